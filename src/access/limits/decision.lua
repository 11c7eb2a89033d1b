-- `decide` of decision.ts, whose comments explain it, on an account that instances share, for requests that arrive together. A test
-- holds both equal.
--
-- KEYS: the account.
-- ARGV: how many requests to decide on, perMinute, perDay, banClearedAtMs, the time or nothing for the clock of this server, and where
--       there are ban rules: strikesFactor, firstMs, longestMs, growth, memoryMs.
-- Returns for each request the outcome, whether a ban began (1), the time, and the ten numbers of the account after it.

local minute_ms, day_ms, hold_ms, min_strikes = 60000, 86400000, 120000, 10
-- How much longer an account is kept than it is needed, in case a clock is set back.
local keep_ms = 3600000

local count, per_minute, per_day = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local ban_cleared_at, clock = tonumber(ARGV[4]), tonumber(ARGV[5])
local strikes_factor, first_ms, longest_ms = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local growth, memory_ms = tonumber(ARGV[9]), tonumber(ARGV[10])

if not clock then
  local time = redis.call('TIME')
  clock = time[1] * 1000 + math.floor(time[2] / 1000)
end

local minute, minute_count, day, day_count, strikes, bans, banned_at, banned_until = 0, 0, 0, 0, 0, 0, 0, 0
local earlier_day, earlier_day_count = 0, 0
local stored = redis.call('GET', KEYS[1])
if stored then
  local numbers = {}
  for digits in string.gmatch(stored, '%d+') do numbers[#numbers + 1] = tonumber(digits) end
  minute, minute_count, day, day_count, strikes, bans, banned_at, banned_until, earlier_day, earlier_day_count = unpack(numbers)
end

local decisions, account, now = {}, nil, clock
for i = 1, count do
  local cleared_at = ban_cleared_at <= clock + hold_ms and ban_cleared_at or 0
  local is_forgotten = banned_at ~= 0 and banned_at <= cleared_at
  local start = minute * minute_ms
  now = math.max(clock, start)
  local is_released = start > clock and cleared_at >= clock - hold_ms
  if is_released or start + minute_ms > clock + hold_ms then
    now = clock
    if banned_at > clock + hold_ms then banned_at, banned_until = clock, clock end
  end
  if is_forgotten or is_released then bans, banned_at, banned_until = 0, 0, 0 end
  local this_minute, this_day = math.floor(now / minute_ms), math.floor(now / day_ms)
  if minute ~= this_minute then minute, minute_count, strikes = this_minute, 0, 0 end
  if this_day > day then
    day, day_count, earlier_day, earlier_day_count = this_day, 0, day, day_count
  elseif this_day < day then
    day, day_count = this_day, this_day == earlier_day and earlier_day_count or 0
  end

  local outcome, is_new_ban = 'banned', 0
  if now >= banned_until then
    if minute_count < per_minute and day_count < per_day then
      outcome, minute_count, day_count = 'admitted', minute_count + 1, day_count + 1
    else
      outcome, strikes = 'limited', strikes + 1
      if strikes_factor and strikes > math.max(per_minute * strikes_factor, min_strikes) then
        local is_remembered = bans > 0 and now < banned_at + memory_ms
        outcome, is_new_ban, strikes, bans, banned_at = 'banned', 1, 0, is_remembered and bans + 1 or 1, now
        local length_ms = first_ms
        for _ = 2, bans do
          if length_ms >= longest_ms then break end
          length_ms = length_ms * growth
        end
        banned_until = now + math.ceil(math.min(length_ms, longest_ms))
      end
    end
  end
  account = { minute, minute_count, day, day_count, strikes, bans, banned_at, banned_until, earlier_day, earlier_day_count }
  decisions[i] = { outcome, is_new_ban, clock, unpack(account) }
end

local text = string.format('%.0f' .. string.rep(' %.0f', 9), unpack(account))
if text ~= stored then
  local tells_until = math.max((day + 1) * day_ms, banned_until, banned_at + (memory_ms or 0))
  redis.call('SET', KEYS[1], text, 'PX', string.format('%.0f', math.ceil(tells_until - now) + keep_ms))
end
return decisions

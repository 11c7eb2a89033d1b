# Uses the client that openapi-generator makes.
require 'uri'
$LOAD_PATH.unshift("#{__dir__}/petstore/lib")
require 'petstore'

Petstore.configure do |config|
  address = URI(ENV.fetch('PETSTORE_BASE_URL'))
  config.scheme = address.scheme
  config.host = "#{address.host}:#{address.port}"
  config.base_path = address.path
  config.access_token = ENV.fetch('PETSTORE_API_KEY')
end
pets = Petstore::PetsApi.new
store = Petstore::StoreApi.new

pet = pets.create_pet(Petstore::NewPet.new(name: 'Smaug', category_id: 4))
puts "created #{pet.id}: #{pet.name}"

sizes = []
cursor = nil
loop do
  page, _, headers = pets.list_pets_with_http_info({ limit: 8, cursor: cursor }.compact)
  sizes << page.length
  cursor = headers['link'].to_s[/[?&]cursor=([^&>]+)[^>]*>; rel="next"/, 1]
  break unless cursor
end
puts "pages of #{sizes.join(', ')}"

order = store.place_order(Petstore::Order.new(pet_id: 13, quantity: 2))
puts "ordered #{order.id}: #{order.quantity} of #{order.pet_id}"

store.list_events.each do |event|
  case event
  when Petstore::PetCreated
    puts "#{event.type}: #{event.data.name}"
  when Petstore::InventoryUpdated
    puts "#{event.type}: #{event.data.quantity}, was #{event.previous.quantity}"
  end
end

begin
  pets.get_category(4711)
rescue Petstore::ApiError => e
  refused = Petstore::Error.build_from_hash(JSON.parse(e.response_body, symbolize_names: true))
  puts "#{e.code} #{refused.code}"
end

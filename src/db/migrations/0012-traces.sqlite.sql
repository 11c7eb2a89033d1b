-- The trace context of the request that made a change, unless it follows from request_id.
alter table events add column traceparent text;

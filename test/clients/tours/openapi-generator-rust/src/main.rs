//! Takes the tour with the client that openapi-generator makes for Rust.

use std::env::var;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use http::{Extensions, HeaderMap};
use petstore::apis::configuration::Configuration;
use petstore::apis::pets_api::{create_pet, get_category, list_pets, update_pet};
use petstore::apis::store_api::{get_order, place_order, update_order};
use petstore::apis::Error;
use petstore::models::{self, NewPet, Order, OrderPatch, PetCreated, PetPatch, PetUpdated};
use reqwest::{Request, Response, Url};
use reqwest_middleware::{ClientBuilder, Middleware, Next, Result};
use serde_json::Value;

type AnyError = Box<dyn std::error::Error>;

/// Keeps the header fields of the last answer, which the functions of the client do not return.
#[derive(Clone, Default)]
struct LastHeaders(Arc<Mutex<HeaderMap>>);

#[async_trait::async_trait]
impl Middleware for LastHeaders {
    async fn handle(&self, request: Request, extensions: &mut Extensions, next: Next<'_>) -> Result<Response> {
        let answer = next.run(request, extensions).await?;
        *self.0.lock().unwrap() = answer.headers().clone();
        Ok(answer)
    }
}

impl LastHeaders {
    fn field(&self, name: &str) -> String {
        let headers = self.0.lock().unwrap();
        headers.get(name).map_or(String::new(), |value| value.to_str().unwrap().to_owned())
    }
}

fn client_of(key: &str, headers: &LastHeaders) -> Configuration {
    Configuration {
        base_path: var("PETSTORE_BASE_URL").unwrap(),
        bearer_access_token: Some(key.to_owned()),
        client: ClientBuilder::new(reqwest::Client::new()).with(headers.clone()).build(),
        ..Configuration::default()
    }
}

/// The error by which a request was refused.
fn told<T, E: std::fmt::Debug>(answer: std::result::Result<T, Error<E>>) -> String {
    match answer {
        Err(Error::ResponseError(refused)) => {
            let error: models::Error = serde_json::from_str(&refused.content).unwrap();
            format!("{} {}", error.status, error.code)
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("The request was not refused."),
    }
}

fn tell(word: &str, order: &Order) {
    let Order { id: Some(id), quantity: Some(quantity), pet_id: Some(pet_id), complete: Some(complete), .. } = order else {
        panic!("An order lacks a field: {order:?}");
    };
    println!("{word} {id}: {quantity} of {pet_id}, complete: {complete}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::result::Result<(), AnyError> {
    let headers = LastHeaders::default();
    let client = client_of(&var("PETSTORE_API_KEY")?, &headers);

    // The same request with the same key adds nothing.
    let mut pet_id = 0;
    for word in ["created", "again"] {
        let created = create_pet(&client, NewPet::new("Smaug".to_owned(), 4), Some("tour"), None).await?;
        pet_id = created.id;
        println!("{word} {pet_id}: {}", created.name);
    }

    let mut sizes = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = list_pets(&client, None, None, None, Some(8), cursor.as_deref(), None, None).await?;
        sizes.push(page.len().to_string());
        let links = headers.field("Link");
        let Some(next) = links.split(", ").find(|link| link.ends_with("; rel=\"next\"")) else {
            break;
        };
        let address = Url::parse(&next[1..next.find('>').unwrap()])?;
        cursor = address.query_pairs().find(|(name, _)| name == "cursor").map(|(_, value)| value.into_owned());
    }
    println!("pages of {}", sizes.join(", "));

    let golden = PetPatch { name: Some("Smaug the Golden".to_owned()), ..PetPatch::new() };
    let renamed = update_pet(&client, pet_id, golden, None, None, None).await?;
    println!("renamed {}: {}", renamed.id, renamed.name);

    let order_of = |quantity| Order { pet_id: Some(13), quantity: Some(quantity), ..Order::new() };
    tell("ordered", &place_order(&client, order_of(2), None, None).await?);
    get_order(&client, 9, None, None).await?;
    let etag = headers.field("ETag");
    // Null takes a field away, so a patch tells it from one that is absent.
    let completion = OrderPatch { complete: Some(Some(true)), ..OrderPatch::new() };
    tell("changed", &update_order(&client, 9, completion.clone(), Some(&etag), None, None).await?);

    // The type that the client has for an event cannot be read, but those of its kinds can.
    let types = [("type", "pet.created"), ("type", "pet.updated")];
    let url = Url::parse_with_params(&format!("{}/store/events", client.base_path), types)?;
    let answer = client.client.get(url).bearer_auth(var("PETSTORE_API_KEY")?).send().await?;
    for event in serde_json::from_str::<Vec<Value>>(&answer.text().await?)? {
        match event["type"].as_str() {
            Some("pet.created") => {
                let created: PetCreated = serde_json::from_value(event)?;
                println!("pet.created: {}", created.data.name);
            }
            Some("pet.updated") => {
                let updated: PetUpdated = serde_json::from_value(event)?;
                let previous = updated.previous.name.flatten().unwrap_or_default();
                println!("pet.updated: {}, was {previous}", updated.data.name);
            }
            _ => {}
        }
    }

    // Errors that it expects, and limits, where a key is given that meets them soon.
    if let Ok(free_key) = var("PETSTORE_FREE_KEY") {
        println!("{}", told(update_order(&client, 9, completion, Some(&etag), None, None).await));
        println!("{}", told(get_category(&client, 4711, None, None).await));
        println!("{}", told(place_order(&client, order_of(1000), None, None).await));
        let mistyped = client_of("pet_mistyped", &headers);
        println!("{}", told(list_pets(&mistyped, None, None, None, None, None, None, None).await));

        let free = client_of(&free_key, &headers);
        let mut answer = list_pets(&free, None, None, None, Some(1), None, None, None).await;
        for _ in 1..130 {
            if answer.is_err() {
                break;
            }
            answer = list_pets(&free, None, None, None, Some(1), None, None, None).await;
        }
        let now_seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64;
        let reset_seconds: i64 = headers.field("X-RateLimit-Reset").parse()?;
        let after_seconds: i64 = headers.field("Retry-After").parse()?;
        let waits = match (reset_seconds - now_seconds).max(after_seconds) {
            1..=60 => "within 60 s".to_owned(),
            seconds => format!("after {seconds} s"),
        };
        let (limit, remaining) = (headers.field("X-RateLimit-Limit"), headers.field("X-RateLimit-Remaining"));
        println!("{}: limit {limit}, remaining {remaining}, reset and retry {waits}", told(answer));
    }
    Ok(())
}

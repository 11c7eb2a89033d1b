//! Uses the client that progenitor makes.
use progenitor_client::Error::ErrorResponse;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use std::env::var;
use std::num::NonZeroU32;
use types::Event;

progenitor::generate_api!(spec = "openapi.json", interface = Builder);

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let key = var("PETSTORE_API_KEY")?;
    let headers = HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {key}").parse()?)]);
    let http = reqwest::Client::builder().default_headers(headers).build()?;
    let client = Client::new_with_client(&var("PETSTORE_BASE_URL")?, http);

    let smaug = types::NewPet::builder().name("Smaug").category_id(4);
    let pet = client.create_pet().body(smaug).send().await?;
    println!("created {}: {}", pet.id, *pet.name);

    let mut sizes = Vec::new();
    let mut cursor = None;
    loop {
        let mut list = client.list_pets().limit(8);
        if let Some(cursor) = cursor {
            list = list.cursor(cursor);
        }
        let page = list.send().await?;
        sizes.push(page.len().to_string());
        let link = page.headers().get("link").map_or(Ok(""), |link| link.to_str())?;
        cursor = next_cursor(link);
        if cursor.is_none() {
            break;
        }
    }
    println!("pages of {}", sizes.join(", "));

    let wanted = types::Order::builder().pet_id(13).quantity(NonZeroU32::new(2));
    let order = client.place_order().body(wanted).send().await?;
    let [id, pet_id] = [order.id, order.pet_id].map(Option::unwrap_or_default);
    println!("ordered {id}: {} of {pet_id}", order.quantity.map_or(0, u32::from));

    for event in client.list_events().send().await?.iter() {
        match event {
            Event::PetCreated(event) => println!("pet.created: {}", *event.data.name),
            Event::InventoryUpdated(event) => {
                let was = event.previous.quantity.unwrap_or_default();
                println!("inventory.updated: {}, was {was}", event.data.quantity);
            }
            _ => {}
        }
    }

    if let Err(ErrorResponse(refused)) = client.get_category().category_id(4711).send().await {
        println!("{} {}", refused.status().as_u16(), refused.code);
    }
    Ok(())
}

/// The cursor in the link to the next page.
fn next_cursor(link: &str) -> Option<String> {
    let (before, _) = link.split_once(">; rel=\"next\"")?;
    let (_, query) = before.rsplit_once("cursor=")?;
    query.split('&').next().map(str::to_string)
}

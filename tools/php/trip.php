<?php
// Uses the client that openapi-generator makes.
use GuzzleHttp\Client;
use Petstore\Api\PetsApi;
use Petstore\Api\StoreApi;
use Petstore\ApiException;
use Petstore\Configuration;
use Petstore\Model\Error;
use Petstore\Model\InventoryUpdated;
use Petstore\Model\NewPet;
use Petstore\Model\Order;
use Petstore\Model\PetCreated;
use Petstore\ObjectSerializer;

error_reporting(E_ALL);
set_error_handler(fn (int $level, string $text) => throw new ErrorException($text));
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class) {
    $file = __DIR__ . '/petstore/lib/' . str_replace(['Petstore\\', '\\'], ['', '/'], $class) . '.php';
    if (is_file($file)) require $file;
});

$http = new Client();
$configuration = (new Configuration())
    ->setHost(getenv('PETSTORE_BASE_URL'))
    ->setAccessToken(getenv('PETSTORE_API_KEY'));
$pets = new PetsApi($http, $configuration);
$store = new StoreApi($http, $configuration);

$pet = $pets->createPet(new NewPet(['name' => 'Smaug', 'category_id' => 4]));
echo "created {$pet->getId()}: {$pet->getName()}\n";

$sizes = [];
$cursor = null;
do {
    [$page, , $headers] = $pets->listPetsWithHttpInfo(limit: 8, cursor: $cursor);
    $sizes[] = count($page);
    $hasNext = preg_match('/[?&]cursor=([^&>]+)[^>]*>; rel="next"/', $headers['Link'][0] ?? '', $found);
    $cursor = $found[1] ?? null;
} while ($hasNext);
echo 'pages of ', implode(', ', $sizes), "\n";

$order = $store->placeOrder(new Order(['pet_id' => 13, 'quantity' => 2]));
echo "ordered {$order->getId()}: {$order->getQuantity()} of {$order->getPetId()}\n";

// Its class Event has the fields of one variant. So the program chooses the class itself.
$events = json_decode($http->send($store->listEventsRequest())->getBody());
foreach ($events as $event) {
    if ($event->type === 'pet.created') {
        $created = ObjectSerializer::deserialize($event, PetCreated::class);
        echo "{$created->getType()}: {$created->getData()->getName()}\n";
    } elseif ($event->type === 'inventory.updated') {
        $updated = ObjectSerializer::deserialize($event, InventoryUpdated::class);
        echo "{$updated->getType()}: {$updated->getData()->getQuantity()}, was {$updated->getPrevious()->getQuantity()}\n";
    }
}

try {
    $pets->getCategory(4711);
} catch (ApiException $refused) {
    $error = $refused->getResponseObject();
    assert($error instanceof Error);
    echo "{$refused->getCode()} {$error->getCode()}\n";
}

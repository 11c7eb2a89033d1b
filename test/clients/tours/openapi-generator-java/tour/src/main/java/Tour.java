import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import petstore.ApiClient;
import petstore.ApiException;
import petstore.ApiResponse;
import petstore.api.PetsApi;
import petstore.api.StoreApi;
import petstore.model.Error;
import petstore.model.Event;
import petstore.model.EventType;
import petstore.model.NewPet;
import petstore.model.Order;
import petstore.model.OrderPatch;
import petstore.model.Pet;
import petstore.model.PetCreated;
import petstore.model.PetPatch;
import petstore.model.PetUpdated;

/** Takes the tour with the client that openapi-generator makes for Java. */
public class Tour {
  private static final Pattern NEXT = Pattern.compile("<[^>]*[?&]cursor=([^&>]+)[^>]*>; rel=\"next\"");

  private interface Request {
    void send() throws ApiException;
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = clientOf(System.getenv("PETSTORE_API_KEY"));
    PetsApi pets = new PetsApi(client);
    StoreApi store = new StoreApi(client);

    // The same request with the same key adds nothing.
    long petId = 0;
    for (String word : List.of("created", "again")) {
      Pet created = pets.createPet(new NewPet().name("Smaug").categoryId(4L), "tour", null);
      petId = created.getId();
      System.out.printf("%s %d: %s%n", word, petId, created.getName());
    }

    List<String> sizes = new ArrayList<>();
    String cursor = null;
    do {
      ApiResponse<List<Pet>> page = pets.listPetsWithHttpInfo(null, null, null, 8, cursor, null, null);
      sizes.add(String.valueOf(page.getData().size()));
      Matcher more = NEXT.matcher(first(page, "Link"));
      cursor = more.find() ? more.group(1) : null;
    } while (cursor != null);
    System.out.println("pages of " + String.join(", ", sizes));

    Pet renamed = pets.updatePet(petId, new PetPatch().name("Smaug the Golden"), null, null, null);
    System.out.printf("renamed %d: %s%n", renamed.getId(), renamed.getName());

    tell("ordered", store.placeOrder(new Order().petId(13L).quantity(2), null, null));
    String etag = first(store.getOrderWithHttpInfo(9L, null, null), "ETag");
    OrderPatch completion = new OrderPatch().complete(true);
    tell("changed", store.updateOrder(9L, completion, etag, null, null));

    List<EventType> types = List.of(EventType.PET_CREATED, EventType.PET_UPDATED);
    for (Event event : store.listEvents(null, types, null, null, null, null)) {
      if (event.getActualInstance() instanceof PetCreated created) {
        System.out.printf("%s: %s%n", created.getType().getValue(), created.getData().getName());
      } else if (event.getActualInstance() instanceof PetUpdated updated) {
        String before = updated.getPrevious().getName();
        System.out.printf("%s: %s, was %s%n", updated.getType().getValue(), updated.getData().getName(), before);
      }
    }

    // Errors that it expects, and limits, where a key is given that meets them soon.
    String freeKey = System.getenv("PETSTORE_FREE_KEY");
    if (freeKey != null) {
      System.out.println(told(refusal(() -> store.updateOrder(9L, completion, etag, null, null))));
      System.out.println(told(refusal(() -> pets.getCategory(4711L, null, null))));
      System.out.println(told(refusal(() -> store.placeOrder(new Order().petId(13L).quantity(1000), null, null))));
      PetsApi mistyped = new PetsApi(clientOf("pet_mistyped"));
      System.out.println(told(refusal(() -> mistyped.listPets(null, null, null, null, null, null, null))));

      PetsApi free = new PetsApi(clientOf(freeKey));
      ApiException refused = refusal(() -> {
        for (int asked = 0; asked < 130; asked++) free.listPets(null, null, null, 1, null, null, null);
      });
      HttpHeaders headers = refused.getResponseHeaders();
      long waitSeconds = Math.max(
          headers.firstValueAsLong("X-RateLimit-Reset").orElseThrow() - System.currentTimeMillis() / 1000,
          headers.firstValueAsLong("Retry-After").orElseThrow());
      System.out.printf("%s: limit %s, remaining %s, reset and retry %s%n", told(refused),
          headers.firstValue("X-RateLimit-Limit").orElseThrow(),
          headers.firstValue("X-RateLimit-Remaining").orElseThrow(),
          0 < waitSeconds && waitSeconds <= 60 ? "within 60 s" : "after " + waitSeconds + " s");
    }
  }

  private static ApiClient clientOf(String key) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("PETSTORE_BASE_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
    return client;
  }

  /** The names of fields are in lower case, or as they were sent. */
  private static String first(ApiResponse<?> answer, String name) {
    return HttpHeaders.of(answer.getHeaders(), (field, value) -> true).firstValue(name).orElse("");
  }

  private static void tell(String word, Order order) {
    System.out.printf("%s %d: %d of %d, complete: %b%n",
        word, order.getId(), order.getQuantity(), order.getPetId(), order.getComplete());
  }

  private static ApiException refusal(Request request) {
    try {
      request.send();
    } catch (ApiException refused) {
      return refused;
    }
    throw new AssertionError("The request was not refused.");
  }

  /** The error by which a request was refused. The client gives it as text. */
  private static String told(ApiException refused) throws Exception {
    Error error = ApiClient.createDefaultObjectMapper().readValue(refused.getResponseBody(), Error.class);
    return error.getStatus() + " " + error.getCode();
  }
}

// Reads the stream of events by okhttp-eventsource, after the event with the id 1 until that with the id 4.
import com.launchdarkly.eventsource.ConnectStrategy;
import com.launchdarkly.eventsource.EventSource;
import java.net.URI;

class Stream {
  public static void main(String[] args) throws Exception {
    var http = ConnectStrategy.http(URI.create(System.getenv("PETSTORE_BASE_URL") + "/store/events/stream"))
      .header("Authorization", "Bearer " + System.getenv("PETSTORE_API_KEY"));
    try (var source = new EventSource.Builder(http).lastEventId("1").build()) {
      String id;
      do {
        var event = source.readMessage();
        id = event.getLastEventId();
        System.out.println(id + " " + event.getEventName());
      } while (!id.equals("4"));
    }
  }
}

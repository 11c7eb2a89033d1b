// Sends requests from standard input, and writes what swagger-request-validator says of each request and response.
import com.atlassian.oai.validator.OpenApiInteractionValidator;
import com.atlassian.oai.validator.model.Request;
import com.atlassian.oai.validator.model.SimpleRequest;
import com.atlassian.oai.validator.model.SimpleResponse;
import com.atlassian.oai.validator.report.ValidationReport;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.stream.Collectors;

class Exchanges {
  static final HttpClient client = HttpClient.newHttpClient();
  static final ObjectMapper mapper = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    var validator = OpenApiInteractionValidator.createFor(args[0]).build();
    ArrayNode verdicts = mapper.createArrayNode();
    for (JsonNode sent : mapper.readTree(System.in)) {
      URI url = URI.create(sent.get("url").asText());
      String method = sent.get("method").asText();
      String body = sent.get("body").asText();
      var http = HttpRequest.newBuilder(url).method(method, HttpRequest.BodyPublishers.ofString(body));
      var request = new SimpleRequest.Builder(Request.Method.valueOf(method), url.getPath());
      sent.get("headers").properties().forEach(header -> {
        http.header(header.getKey(), header.getValue().asText());
        request.withHeader(header.getKey(), header.getValue().asText());
      });
      if (url.getQuery() != null)
        for (String part : url.getQuery().split("&")) request.withQueryParam(part.split("=")[0], part.split("=", 2)[1]);
      if (!body.isEmpty()) request.withBody(body);
      var got = client.send(http.build(), HttpResponse.BodyHandlers.ofString());
      var response = new SimpleResponse.Builder(got.statusCode());
      got.headers().map().forEach(response::withHeader);
      if (!got.body().isEmpty()) response.withBody(got.body());
      var simple = request.build();
      verdicts.addObject()
        .put("name", sent.get("name").asText())
        .put("status", got.statusCode())
        .put("request", text(validator.validateRequest(simple)))
        .put("response", text(validator.validateResponse(simple.getPath(), simple.getMethod(), response.build())));
    }
    System.out.println(verdicts);
  }

  static String text(ValidationReport report) {
    return report.getMessages().stream()
      .filter(message -> message.getLevel() == ValidationReport.Level.ERROR)
      .map(ValidationReport.Message::getMessage)
      .collect(Collectors.joining("; "));
  }
}

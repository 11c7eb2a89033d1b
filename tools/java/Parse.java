// Parses documents by swagger-parser, resolves all references, and writes what it objects to and the ids of the operations.
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.ParseOptions;

class Parse {
  public static void main(String[] files) {
    var options = new ParseOptions();
    options.setResolve(true);
    options.setResolveFully(true);
    for (String file : files) {
      var result = new OpenAPIV3Parser().readLocation(file, null, options);
      result.getMessages().forEach(message -> System.out.println("objection: " + message));
      result.getOpenAPI().getPaths().values().stream()
        .map(PathItem::readOperations)
        .forEach(operations -> operations.stream().map(Operation::getOperationId).forEach(System.out::println));
    }
  }
}

import java.io.IOException;
import java.nio.file.Path;
import org.neo4j.configuration.connectors.ConnectorPortRegister;
import org.neo4j.configuration.connectors.ConnectorType;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.kernel.internal.GraphDatabaseAPI;

/** Neo4j Community with its Bolt connector, for as long as the standard input stays open: it dies with its parent. */
public final class Server {
    public static void main(String[] arguments) throws IOException {
        var home = Path.of(arguments[0]);
        var server = new DatabaseManagementServiceBuilder(home).loadPropertiesFromFile(home.resolve("neo4j.conf")).build();
        var database = (GraphDatabaseAPI) server.database("neo4j");
        var ports = database.getDependencyResolver().resolveDependency(ConnectorPortRegister.class);
        System.out.println(ports.getLocalAddress(ConnectorType.BOLT).getPort());
        while (System.in.read() >= 0) {}
        server.shutdown();
    }
}

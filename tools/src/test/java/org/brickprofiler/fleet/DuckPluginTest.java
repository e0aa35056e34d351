package org.brickprofiler.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.duckdb.DuckDBDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Downloads the driver from a local repository, which serves the jar of the test's class path or something else. */
@OneJdk
final class DuckPluginTest {

    private static final String PATH = "/maven2/org/duckdb/duckdb_jdbc/2.0.0.1/duckdb_jdbc-2.0.0.1.jar";

    @TempDir
    private Path folder;

    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
    private HttpServer server;
    private Path jar;

    @BeforeEach
    void start() throws Exception {
        jar = Path.of(DuckDBDriver.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            asked.add(exchange.getRequestURI().getPath());
            if (exchange.getRequestURI().getPath().equals(PATH)) {
                exchange.sendResponseHeaders(200, Files.size(jar));
                Files.copy(jar, exchange.getResponseBody());
            } else {
                exchange.sendResponseHeaders(404, -1);
            }
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private URI repository(String path) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
    }

    private Path download(String path) throws IOException {
        return DuckPlugin.download(repository(path), folder.resolve("plugin"), (bytes, total) -> {});
    }

    @Test
    void getsTheDriverOnceAndItIsFoundThere() throws IOException {
        Path got = download("/maven2/");

        assertThat(got).hasSameBinaryContentAs(jar);
        assertThat(DuckPlugin.find(Optional.empty(), Optional.of(folder.resolve("plugin"))))
                .isEqualTo(got);
        assertThat(download("/maven2")).isEqualTo(got);
        assertThat(asked).containsExactly(PATH);
    }

    @Test
    void anotherJarIsRefusedAndWhatWasThereStays() throws IOException {
        Path old = Files.createDirectories(folder.resolve("plugin")).resolve("duckdb_jdbc-2.0.0.1.jar");
        Files.writeString(old, "old");
        jar = Files.writeString(folder.resolve("other.jar"), "no jar");

        assertThatIOException()
                .isThrownBy(() -> download("/maven2"))
                .withMessageStartingWith("cannot write " + old + ": the 6 bytes of " + repository(PATH)
                        + " are not those of org.duckdb:duckdb_jdbc:2.0.0.1: their SHA-256 is ");
        assertThat(old).hasContent("old");
        try (Stream<Path> left = Files.list(folder.resolve("plugin"))) {
            assertThat(left).containsExactly(old);
        }
    }

    @Test
    void aRepositoryWithoutItIsNamed() {
        assertThatIOException()
                .isThrownBy(() -> download("/elsewhere"))
                .withMessageContaining(repository("/elsewhere/org/duckdb/").toString())
                .withMessageEndingWith(" answers 404");
        int port = server.getAddress().getPort();
        server.stop(0);
        assertThatIOException()
                .isThrownBy(() -> download("/maven2"))
                .withMessageContaining("127.0.0.1:" + port)
                .withMessageEndingWith(" cannot be reached");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DuckPlugin.download(URI.create("maven2"), folder, (bytes, total) -> {}))
                .withMessageContaining("maven2");
        assertThat(folder.resolve("plugin")).isEmptyDirectory();
    }

    /** A jar of the right name, beside the program or where the setting says, runs only if it is the right one. */
    @Test
    void aJarOfThatNameWithOtherBytesIsNotLoaded() throws IOException {
        Path old = Files.writeString(folder.resolve("duckdb_jdbc-9.9.9.jar"), "another version");
        assertThatIOException()
                .isThrownBy(() -> DuckPlugin.required(DuckPlugin.find(Optional.empty(), Optional.of(folder))))
                .withMessageStartingWith(old + " is not org.duckdb:duckdb_jdbc:2.0.0.1, the only driver of DuckDB that")
                .withMessageContaining("its SHA-256 is ")
                .withMessageEndingWith("; this gets it: brick fleet plugin");

        Path right = Files.copy(jar, folder.resolve(DuckPlugin.JAR));
        assertThat(DuckPlugin.required(DuckPlugin.find(Optional.of(folder), Optional.empty())))
                .isEqualTo(right);
        Files.writeString(right, "damaged");
        assertThatIOException().isThrownBy(() -> DuckPlugin.required(right));
    }

    @Test
    void theVersionIsThatOfTheBuild() {
        String version = DuckPlugin.ARTIFACT.substring(DuckPlugin.ARTIFACT.lastIndexOf(':') + 1);

        assertThat(SourceTree.path("build", "parent.xml")).content().contains("<duckdb.version>" + version + "<");
        assertThat(jar.getFileName()).hasToString(DuckPlugin.JAR);
    }
}

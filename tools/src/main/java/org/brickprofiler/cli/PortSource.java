package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.JsonReport;

/** Reads a profiler through the agent's port. */
final class PortSource implements TopSource {

    private static final int LIMIT_MS = (int) Duration.ofSeconds(10).toMillis();

    private final URI profile;

    private PortSource(URI profile) {
        this.profile = profile;
    }

    /**
     * Returns the source at an address.
     *
     * @param address the address that the agent prints, such as {@code http://localhost:8080/}; host and port suffice
     * @throws Refused if it is no address
     */
    static PortSource of(String address) throws Refused {
        String text = address.contains("://") ? address : "http://" + address;
        try {
            URI uri = new URI(text);
            if (!"http".equals(uri.getScheme()) || uri.getHost() == null || uri.getPort() < 0) {
                throw new Refused("'" + address + "' is neither a process id nor an address such as localhost:8080");
            }
            return new PortSource(uri.resolve("/profile.json"));
        } catch (URISyntaxException malformed) {
            throw new Refused("'" + address + "' is neither a process id nor an address such as localhost:8080");
        }
    }

    @Override
    public String name() {
        return profile.getAuthority();
    }

    @Override
    public TopReading read() throws IOException {
        HttpURLConnection connection = (HttpURLConnection) profile.toURL().openConnection();
        connection.setConnectTimeout(LIMIT_MS);
        connection.setReadTimeout(LIMIT_MS);
        ProfileSnapshot snapshot;
        try {
            int status = connection.getResponseCode();
            if (status != HttpURLConnection.HTTP_OK) {
                throw new Refused(profile + " answers with the status " + status + ", and is no port of the agent");
            }
            try (InputStream body = connection.getInputStream()) {
                snapshot = JsonReport.fromJson(new String(body.readAllBytes(), UTF_8));
            } catch (IllegalArgumentException other) {
                throw new Refused(profile + " is no profile: " + other.getMessage());
            }
        } finally {
            connection.disconnect();
        }
        if (snapshot.wallNs() == 0) {
            throw new Refused("the profiler of " + name() + " is off: BRICK_PROFILER=off switches all profilers off");
        }
        return TopReading.of(snapshot);
    }

    @Override
    public void close() {
        // A reading leaves nothing behind.
    }
}

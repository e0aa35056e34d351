package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Progress;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.trace.LineProfile;

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

    /** Returns whether a word is an address that cannot be a file. */
    static boolean isAddress(String word) {
        return word.startsWith("http://");
    }

    @Override
    public TopReading read() throws IOException {
        String report = report();
        ProfileSnapshot snapshot = snapshot(report);
        if (snapshot.wallNs() == 0) {
            throw new Refused("the profiler of " + name() + " is off: BRICK_PROFILER=off switches all profilers off");
        }
        return withLines(withProgress(TopReading.of(snapshot), report), report);
    }

    /** Returns the profile up to now. */
    ProfileSnapshot snapshot() throws IOException {
        try {
            return snapshot(report());
        } catch (Refused refused) {
            throw refused;
        } catch (IOException none) {
            throw new IOException(name() + " does not answer: " + none.getMessage(), none);
        }
    }

    private ProfileSnapshot snapshot(String report) throws IOException {
        try {
            return JsonReport.fromJson(report);
        } catch (IllegalArgumentException other) {
            throw new Refused(profile + " is no profile: " + other.getMessage());
        }
    }

    private String report() throws IOException {
        HttpURLConnection connection = (HttpURLConnection) profile.toURL().openConnection();
        connection.setConnectTimeout(LIMIT_MS);
        connection.setReadTimeout(LIMIT_MS);
        try {
            int status = connection.getResponseCode();
            if (status != HttpURLConnection.HTTP_OK) {
                throw new Refused(profile + " answers with the status " + status + ", and is no port of the agent");
            }
            try (InputStream body = connection.getInputStream()) {
                return new String(body.readAllBytes(), UTF_8);
            }
        } finally {
            connection.disconnect();
        }
    }

    /** Adds the lines of bricks, if the agent takes samples. */
    private static TopReading withLines(TopReading reading, String report) throws IOException {
        try {
            return reading.withLines(LineProfile.ofReport(new ByteArrayInputStream(report.getBytes(UTF_8))));
        } catch (IllegalArgumentException other) {
            return reading.withoutLines(other);
        }
    }

    /**
     * Adds what is under way, and the requests of the last minutes, in words; an agent of an earlier version has
     * neither.
     */
    private static TopReading withProgress(TopReading reading, String report) throws IOException {
        List<String> lines = new ArrayList<>();
        List<String> windows = new ArrayList<>();
        try (JsonParser json = new JsonFactory().createParser(report)) {
            json.nextToken();
            if (find(json, Progress.NOW) && json.nextToken() == JsonToken.START_OBJECT) {
                while (json.nextToken() == JsonToken.FIELD_NAME) {
                    String key = json.currentName();
                    json.nextToken();
                    if (key.equals("text")) {
                        while (json.nextToken() == JsonToken.VALUE_STRING) {
                            lines.add(json.getText());
                        }
                    } else if (key.equals("recent")) {
                        while (json.nextToken() == JsonToken.START_OBJECT && find(json, "text")) {
                            windows.add(json.nextTextValue());
                            json.nextToken();
                        }
                    } else {
                        json.skipChildren();
                    }
                }
            }
        }
        return reading.withProgress(lines, windows);
    }

    /** Moves to a key of the object that begins at the current token; false if the object lacks it. */
    private static boolean find(JsonParser json, String key) throws IOException {
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            if (json.currentName().equals(key)) {
                return true;
            }
            json.nextToken();
            json.skipChildren();
        }
        return false;
    }

    @Override
    public void close() {
        // A reading leaves nothing behind.
    }
}

package org.brickprofiler.agent;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;

/**
 * Serves the current report to browsers on this machine: {@code /} is the page, {@code /profile.json} the profile. Each
 * report is rendered on request, one at a time. Stateless; any thread.
 */
final class LiveReport {

    /** The time for receiving a request, and for sending an answer. */
    private static final Duration USUAL_LIMIT = Duration.ofSeconds(10);

    static final String THREADS = "brick-agent-port";

    /**
     * A page that is served at a path.
     *
     * @param type its media type
     * @param text the text of a snapshot
     */
    private record Page(String type, Function<ProfileSnapshot, String> text) {}

    private static final Map<String, Page> PAGES = Map.of(
            "/", new Page("text/html", HtmlReport::render),
            "/profile.json", new Page("application/json", JsonReport::toJson));

    private LiveReport() {}

    /**
     * Opens the server.
     *
     * @param port the port, 0 for any that is free
     * @param snapshots supplies the snapshot to show
     * @return the address of the server
     * @throws IOException when the port is taken
     */
    static String open(int port, Supplier<ProfileSnapshot> snapshots) throws IOException {
        return open(port, USUAL_LIMIT, snapshots);
    }

    static String open(int port, Duration limit, Supplier<ProfileSnapshot> snapshots) throws IOException {
        int opened = PageServer.open(port, limit, THREADS, (path, openMetrics) -> answer(path, snapshots));
        return "http://localhost:" + opened + "/";
    }

    private static PageServer.Answer answer(String path, Supplier<ProfileSnapshot> snapshots) {
        Page page = PAGES.get(path);
        return page == null
                ? PageServer.Answer.of(404, "not found; the paths are / and /profile.json")
                : new PageServer.Answer(200, page.type(), page.text().apply(snapshots.get()));
    }
}

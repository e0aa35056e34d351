package org.brickprofiler.agent;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Serves the current report to browsers on this machine: {@code /} is the page, {@code /profile.json} the profile. Each
 * report is rendered on request, one at a time. Stateless; any thread.
 */
final class LiveReport {

    /** The time for receiving a request, and for sending an answer. */
    private static final Duration USUAL_LIMIT = Duration.ofSeconds(10);

    static final String THREADS = "brick-agent-port";

    /** The time between two pages that a browser shows, s. */
    private static final int REFRESH_S = 10;

    /**
     * A page that is served at a path.
     *
     * @param type its media type
     * @param text the text of a report
     * @param refreshS the time after which a browser asks again, s; 0 for never
     */
    private record Page(String type, Function<CurrentReport, String> text, int refreshS) {}

    private static final Map<String, Page> PAGES = Map.of(
            "/", new Page("text/html", report -> report.page().render(), REFRESH_S),
            "/profile.json", new Page("application/json", CurrentReport::toJson, 0));

    private LiveReport() {}

    /**
     * Opens the server.
     *
     * @param port the port, 0 for any that is free
     * @param reports supplies the report to show
     * @return the address of the server
     * @throws IOException when the port is taken
     */
    static String open(int port, Supplier<CurrentReport> reports) throws IOException {
        return open(port, USUAL_LIMIT, reports);
    }

    static String open(int port, Duration limit, Supplier<CurrentReport> reports) throws IOException {
        int opened = PageServer.open(port, limit, THREADS, (path, openMetrics) -> answer(path, reports));
        return "http://localhost:" + opened + "/";
    }

    private static PageServer.Answer answer(String path, Supplier<CurrentReport> reports) {
        Page page = PAGES.get(path);
        return page == null
                ? PageServer.Answer.of(404, "not found; the paths are / and /profile.json")
                : new PageServer.Answer(200, page.type(), page.text().apply(reports.get()), page.refreshS());
    }
}

package org.brickprofiler.agent;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import java.util.function.Supplier;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.jspecify.annotations.Nullable;

/**
 * The report up to now, for a browser on this machine: {@code /} is the page, {@code /profile.json} the profile. It is made
 * when it is asked for, on a daemon thread. Other machines are not heard, and neither are pages of other sites, which know no
 * name of this machine.
 */
final class LiveReport {

    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int WRONG_METHOD = 405;
    private static final int FAILED = 500;

    private static final String TEXT = "text/plain";

    /**
     * What lies at a path.
     *
     * @param type its media type
     * @param text the text of a snapshot
     */
    private record Page(String type, Function<ProfileSnapshot, String> text) {}

    private static final Map<String, Page> PAGES = Map.of(
            "/", new Page("text/html", HtmlReport::render),
            "/profile.json", new Page("application/json", JsonReport::toJson));

    private final Supplier<ProfileSnapshot> snapshots;

    private LiveReport(Supplier<ProfileSnapshot> snapshots) {
        this.snapshots = snapshots;
    }

    /**
     * Opens it.
     *
     * @param port the port, 0 for any that is free
     * @param snapshots what is shown
     * @return its address
     * @throws IOException when the port is taken
     */
    static String open(int port, Supplier<ProfileSnapshot> snapshots) throws IOException {
        InetAddress here = InetAddress.getLoopbackAddress();
        HttpServer server = HttpServer.create(new InetSocketAddress(here, port), 0);
        ThreadFactory daemons = task -> {
            Thread thread = new Thread(task, "brick-agent-port");
            thread.setDaemon(true);
            return thread;
        };
        server.setExecutor(Executors.newSingleThreadExecutor(daemons));
        server.createContext("/", new LiveReport(snapshots)::answer);
        // The server's own thread is a daemon if the one is that starts it, and must not keep the application from ending.
        daemons.newThread(server::start).start();
        return "http://localhost:" + server.getAddress().getPort() + "/";
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            Page page = PAGES.get(exchange.getRequestURI().getPath());
            if (!isNameOfThisMachine(exchange.getRequestHeaders().getFirst("Host"))) {
                send(exchange, FORBIDDEN, TEXT, "this is for 127.0.0.1 and localhost\n");
            } else if (!exchange.getRequestMethod().equals("GET")) {
                send(exchange, WRONG_METHOD, TEXT, "there is nothing but GET\n");
            } else if (page == null) {
                send(exchange, NOT_FOUND, TEXT, "there are / and /profile.json\n");
            } else {
                send(exchange, page);
            }
        }
    }

    private void send(HttpExchange exchange, Page page) throws IOException {
        String text;
        try {
            text = page.text().apply(snapshots.get());
        } catch (RuntimeException failed) {
            send(exchange, FAILED, TEXT, failed + "\n");
            return;
        }
        send(exchange, OK, page.type(), text);
    }

    /** A page of another site that has its own name lead here would read the report otherwise. */
    private static boolean isNameOfThisMachine(@Nullable String host) {
        return host != null && host.matches("(127\\.0\\.0\\.1|localhost|\\[::1])(:\\d+)?");
    }

    private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }
}

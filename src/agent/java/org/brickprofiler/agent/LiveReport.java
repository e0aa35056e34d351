package org.brickprofiler.agent;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.jspecify.annotations.Nullable;

/**
 * Serves the current report to browsers on this machine: {@code /} is the page, {@code /profile.json} the profile. Each
 * report is rendered on request by a daemon thread, one at a time. The server listens on the loopback address only, and
 * refuses requests whose Host header does not name this machine.
 *
 * <p>A connection is closed after a timeout if the client does not complete its request or does not read the response.
 * Until then it occupies one of {@value #THREADS} threads; the others keep serving.
 */
final class LiveReport {

    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int WRONG_METHOD = 405;
    private static final int FAILED = 500;

    private static final String TEXT = "text/plain";

    static final int THREADS = 8;

    /** The timeout for receiving a request, and for sending a response. */
    private static final Duration USUAL_LIMIT = Duration.ofSeconds(10);

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

    private final Supplier<ProfileSnapshot> snapshots;
    private final TimeLimit limit;

    private LiveReport(Supplier<ProfileSnapshot> snapshots, TimeLimit limit) {
        this.snapshots = snapshots;
        this.limit = limit;
    }

    /**
     * Interrupts threads that read or write for too long. The interrupt closes the connection, which is an
     * interruptible channel. Any thread; a thread has at most one running timeout.
     */
    private static final class TimeLimit {

        private final long limitMs;
        private final ScheduledThreadPoolExecutor clock;
        private static final ThreadLocal<@Nullable Alarm> CURRENT = new ThreadLocal<>();

        TimeLimit(Duration limit, ThreadFactory threads) {
            limitMs = limit.toMillis();
            clock = new ScheduledThreadPoolExecutor(1, threads);
            clock.setRemoveOnCancelPolicy(true);
        }

        private static final class Alarm implements Runnable {
            private final Thread thread;
            private boolean over;
            private @Nullable Future<?> ring;

            Alarm(Thread thread) {
                this.thread = thread;
            }

            @Override
            public synchronized void run() {
                if (!over) {
                    thread.interrupt();
                }
            }

            synchronized void ringIn(long ms, ScheduledThreadPoolExecutor clock) {
                ring = clock.schedule(this, ms, TimeUnit.MILLISECONDS);
            }

            synchronized void end() {
                over = true;
                if (ring != null) {
                    ring.cancel(false);
                }
            }
        }

        /** Starts the timeout: the calling thread is interrupted when it expires. */
        void begin() {
            Alarm alarm = new Alarm(Thread.currentThread());
            CURRENT.set(alarm);
            alarm.ringIn(limitMs, clock);
        }

        /** Stops the timeout and clears an interrupt that it may have caused. */
        void end() {
            Alarm alarm = CURRENT.get();
            if (alarm != null) {
                alarm.end();
                CURRENT.remove();
            }
            Thread.interrupted();
        }

        /** Runs a task of the server under the timeout; the task begins by reading a request. */
        void run(Runnable task) {
            begin();
            try {
                task.run();
            } finally {
                end();
            }
        }
    }

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
        InetAddress here = InetAddress.getLoopbackAddress();
        HttpServer server = HttpServer.create(new InetSocketAddress(here, port), 0);
        ThreadFactory daemons = task -> {
            Thread thread = new Thread(task, "brick-agent-port");
            thread.setDaemon(true);
            return thread;
        };
        TimeLimit timeLimit = new TimeLimit(limit, daemons);
        ExecutorService pool = Executors.newFixedThreadPool(THREADS, daemons);
        server.setExecutor(task -> pool.execute(() -> timeLimit.run(task)));
        server.createContext("/", new LiveReport(snapshots, timeLimit)::answer);
        // The server's own thread inherits its daemon status from the thread that starts it. It must be a daemon, so
        // that it does not keep the application from ending.
        daemons.newThread(server::start).start();
        return "http://localhost:" + server.getAddress().getPort() + "/";
    }

    private void answer(HttpExchange exchange) throws IOException {
        // The request has been read; rendering a large page may take longer than the timeout.
        limit.end();
        try (exchange) {
            Page page = PAGES.get(exchange.getRequestURI().getPath());
            if (!isNameOfThisMachine(exchange.getRequestHeaders().getFirst("Host"))) {
                send(exchange, FORBIDDEN, TEXT, "the Host header must be 127.0.0.1 or localhost\n");
            } else if (!exchange.getRequestMethod().equals("GET")) {
                send(exchange, WRONG_METHOD, TEXT, "only GET is supported\n");
            } else if (page == null) {
                send(exchange, NOT_FOUND, TEXT, "not found; the paths are / and /profile.json\n");
            } else {
                send(exchange, page);
            }
        }
    }

    private void send(HttpExchange exchange, Page page) throws IOException {
        String text;
        try {
            text = text(page);
        } catch (RuntimeException failed) {
            send(exchange, FAILED, TEXT, failed + "\n");
            return;
        }
        send(exchange, OK, page.type(), text);
    }

    private synchronized String text(Page page) {
        return page.text().apply(snapshots.get());
    }

    /**
     * Returns whether a Host header names this machine. The check prevents DNS rebinding, by which a page of another
     * site could read the report.
     */
    private static boolean isNameOfThisMachine(@Nullable String host) {
        return host != null && host.matches("(127\\.0\\.0\\.1|localhost|\\[::1])(:\\d+)?");
    }

    private void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        limit.begin();
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }
}

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
 * The report up to now, for a browser on this machine: {@code /} is the page, {@code /profile.json} the profile. It is
 * made when it is asked for, on a daemon thread, one at a time. Other machines are not heard, and neither are pages of
 * other sites, which know no name of this machine.
 *
 * <p>A request that does not end, and a client that does not read its answer, are cut off after a time limit: each
 * holds one of {@value #THREADS} threads until then, and the others answer meanwhile.
 */
final class LiveReport {

    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int WRONG_METHOD = 405;
    private static final int FAILED = 500;

    private static final String TEXT = "text/plain";

    static final int THREADS = 8;

    /** For sending a request, and for reading an answer. */
    private static final Duration USUAL_LIMIT = Duration.ofSeconds(10);

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
    private final TimeLimit limit;

    private LiveReport(Supplier<ProfileSnapshot> snapshots, TimeLimit limit) {
        this.snapshots = snapshots;
        this.limit = limit;
    }

    /**
     * Interrupts threads that read or write for too long; that closes their connection, which is an interruptible
     * channel. Any thread; a thread has at most one limit under way.
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

        /** From now on the calling thread is interrupted after the limit. */
        void begin() {
            Alarm alarm = new Alarm(Thread.currentThread());
            CURRENT.set(alarm);
            alarm.ringIn(limitMs, clock);
        }

        /** From now on the calling thread is not interrupted; an interruption that has come is forgotten. */
        void end() {
            Alarm alarm = CURRENT.get();
            if (alarm != null) {
                alarm.end();
                CURRENT.remove();
            }
            Thread.interrupted();
        }

        /** Runs a task of the server, which begins with reading a request. */
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
     * Opens it.
     *
     * @param port the port, 0 for any that is free
     * @param snapshots what is shown
     * @return its address
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
        // The server's own thread is a daemon if the one is that starts it, and must not keep the application from
        // ending.
        daemons.newThread(server::start).start();
        return "http://localhost:" + server.getAddress().getPort() + "/";
    }

    private void answer(HttpExchange exchange) throws IOException {
        // The request is read; making a large page may take longer than the limit.
        limit.end();
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

    /** A page of another site that has its own name lead here would read the report otherwise. */
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

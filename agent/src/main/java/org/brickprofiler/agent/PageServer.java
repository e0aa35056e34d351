package org.brickprofiler.agent;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A server of HTTP/1.1 for a few pages that are rendered on request. It answers GET and HEAD, one request per
 * connection. On the loopback address, it refuses requests whose Host header does not name this machine.
 *
 * <p>One thread serves all connections and never waits for one of them; a second thread renders the pages. Requests for
 * the same path that wait at the same time share one rendering. Both are daemon threads. The JDK's server needs a
 * thread for each slow client, and its timeouts are properties of the whole virtual machine.
 *
 * <p>A connection is closed when its request is not complete, or its answer not read, within a time limit. If
 * {@value #MOST_CONNECTIONS} connections are open, a further one replaces the one that has been incomplete for longest.
 * Any thread may open a server; it stays open until the process ends.
 */
final class PageServer {

    /** Bounds the file descriptors and the memory that clients can take from the application. */
    static final int MOST_CONNECTIONS = 256;

    /** The longest request line with headers, in bytes. Browsers send the cookies of all servers of this machine. */
    static final int MOST_HEAD_BYTES = 32 << 10;

    /** The largest number of connections that wait for being accepted. */
    private static final int BACKLOG = 1024;

    /** Of many new connections, some are accepted and read before the next ones can replace them. */
    private static final int ACCEPTED_AT_ONCE = 32;

    private static final int FIRST_HEAD_BYTES = 1 << 10;

    /** The pause after a failure to accept, such as too many open files. */
    private static final long PAUSE_NS = 100_000_000;

    private static final long NS_PER_MS = 1_000_000;

    /**
     * The most bytes of an answer that one call sends. The JDK copies them to native memory and keeps that, and other
     * connections wait meanwhile.
     */
    private static final int SENT_AT_ONCE = 64 << 10;

    private static final Map<Integer, String> REASONS = Map.of(
            200, "OK",
            400, "Bad Request",
            403, "Forbidden",
            404, "Not Found",
            405, "Method Not Allowed",
            431, "Request Header Fields Too Large",
            500, "Internal Server Error",
            505, "HTTP Version Not Supported");

    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);

    /**
     * An answer.
     *
     * @param status its HTTP status
     * @param type its media type
     * @param text its text, which is sent as UTF-8
     * @param refreshS the time after which a browser asks again, s; 0 for never
     */
    record Answer(int status, String type, String text, int refreshS) {

        Answer(int status, String type, String text) {
            this(status, type, text, 0);
        }

        static Answer of(int status, String message) {
            return new Answer(status, "text/plain", message + "\n");
        }

        private String head(int bytes) {
            return "HTTP/1.1 " + status + " " + REASONS.get(status) + "\r\n"
                    + "Date: " + DATE.format(ZonedDateTime.now(ZoneOffset.UTC)) + "\r\n"
                    + (status == 405 ? "Allow: GET, HEAD\r\n" : "")
                    + "Content-Type: " + type + "; charset=utf-8\r\n"
                    + "Cache-Control: no-store\r\n"
                    + (refreshS > 0 ? "Refresh: " + refreshS + "\r\n" : "")
                    + "Content-Length: " + bytes + "\r\n"
                    + "Connection: close\r\n\r\n";
        }
    }

    /** Renders the pages of a server. */
    @FunctionalInterface
    interface Pages {
        /**
         * Renders the page of a path. Only the rendering thread calls it.
         *
         * @param path the decoded path of the request, without its query
         * @param openMetrics whether the client accepts the format of OpenMetrics
         * @return the page; an exception becomes an answer of status 500
         */
        Answer render(String path, boolean openMetrics);
    }

    private final Pages pages;
    private final boolean isLocal;
    private final long limitNs;
    private final ExecutorService renderer;
    private final Selector selector = Selector.open();
    private final ServerSocketChannel door = ServerSocketChannel.open();

    /** The connections whose request is not complete, the oldest first. Serving thread. */
    private final Set<Connection> receiving = new LinkedHashSet<>();

    /** The connections whose client has not read its answer and closed, the oldest first. Serving thread. */
    private final Set<Connection> sending = new LinkedHashSet<>();

    /** The number of open connections, those that wait for a page included. Serving thread. */
    private int connections;

    /** A page in one of its formats. */
    private record Wanted(String path, boolean openMetrics) {}

    /** The connections that wait for a page. Guarded by itself. */
    private final Map<Wanted, List<Connection>> waiting = new HashMap<>();

    /** What the serving thread does with rendered pages. Any thread. */
    private final Queue<Runnable> rendered = new ConcurrentLinkedQueue<>();

    /** Whether no connections are accepted until {@link #pausedUntilNs}. Serving thread. */
    private boolean isPaused;

    private long pausedUntilNs;

    private final ByteBuffer discarded = ByteBuffer.allocate(16 << 10);

    private PageServer(boolean isLocal, Duration limit, String threads, Pages pages) throws IOException {
        this.isLocal = isLocal;
        this.pages = pages;
        limitNs = limit.toNanos();
        renderer = Executors.newSingleThreadExecutor(task -> daemon(task, threads));
    }

    /**
     * Opens a server on the loopback address.
     *
     * @param port the port, 0 for any that is free
     * @param limit the time for receiving a request, and for sending its answer
     * @param threads the name of its threads
     * @param pages renders its pages
     * @return the port
     * @throws IOException when the port is taken
     */
    static int open(int port, Duration limit, String threads, Pages pages) throws IOException {
        return open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), limit, threads, pages);
    }

    /**
     * Opens a server.
     *
     * @param address the address, whose port is 0 for any that is free
     * @param limit the time for receiving a request, and for sending its answer
     * @param threads the name of its threads
     * @param pages renders its pages
     * @return the port
     * @throws IOException when the port is taken, or this machine does not have the address
     */
    static int open(InetSocketAddress address, Duration limit, String threads, Pages pages) throws IOException {
        boolean isLocal = address.getAddress() != null && address.getAddress().isLoopbackAddress();
        PageServer server = new PageServer(isLocal, limit, threads, pages);
        try {
            server.door.bind(address, BACKLOG);
            server.door.configureBlocking(false);
            int opened = server.door.socket().getLocalPort();
            daemon(server::serve, threads).start();
            return opened;
        } catch (IOException taken) {
            server.close();
            throw taken;
        }
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    private void close() {
        try (selector;
                door) {
            renderer.shutdown();
        } catch (IOException unlikely) {
            // Nothing is left to send.
        }
    }

    // ---- the serving thread ----

    private void serve() {
        try {
            SelectionKey clients = door.register(selector, SelectionKey.OP_ACCEPT);
            while (true) {
                clients.interestOps(nsUntilAccept() > 0 ? 0 : SelectionKey.OP_ACCEPT);
                selector.select(Math.max(1, nsUntilDeadline() / NS_PER_MS));
                closeLate(receiving);
                closeLate(sending);
                for (Runnable answer = rendered.poll(); answer != null; answer = rendered.poll()) {
                    answer.run();
                }
                Iterator<SelectionKey> ready = selector.selectedKeys().iterator();
                while (ready.hasNext()) {
                    SelectionKey key = ready.next();
                    ready.remove();
                    if (key.attachment() instanceof Connection connection) {
                        connection.guarded(connection::proceed);
                    } else {
                        accept();
                    }
                }
            }
        } catch (IOException broken) {
            // Without a selector nothing can be served: clients find a closed port rather than one without answers.
            close();
        }
    }

    /** Returns the time to the next deadline, ns; an hour if there is none. */
    private long nsUntilDeadline() {
        long now = System.nanoTime();
        long left = nsUntilAccept() > 0 ? nsUntilAccept() : TimeUnit.HOURS.toNanos(1);
        for (Set<Connection> each : List.of(receiving, sending)) {
            if (!each.isEmpty()) {
                left = Math.min(left, each.iterator().next().deadlineNs - now);
            }
        }
        return left;
    }

    /** Closes the connections whose time limit is over. All have the same limit, so the first ones are the latest. */
    private static void closeLate(Set<Connection> oldestFirst) {
        long now = System.nanoTime();
        while (!oldestFirst.isEmpty() && oldestFirst.iterator().next().deadlineNs - now <= 0) {
            oldestFirst.iterator().next().close();
        }
    }

    private void accept() {
        try {
            for (int accepted = 0; accepted < ACCEPTED_AT_ONCE; accepted++) {
                SocketChannel channel = door.accept();
                if (channel == null) {
                    return;
                }
                if (connections == MOST_CONNECTIONS) {
                    closeSlowest();
                }
                Connection connection = new Connection(channel);
                connection.guarded(connections > MOST_CONNECTIONS ? connection::close : connection::begin);
            }
        } catch (IOException tooManyOpenFiles) {
            closeSlowest();
            pausedUntilNs = System.nanoTime() + PAUSE_NS;
            isPaused = true;
        }
    }

    /** Returns the time until connections are accepted, ns; 0 if they are now. */
    private long nsUntilAccept() {
        isPaused &= pausedUntilNs - System.nanoTime() > 0;
        return isPaused ? Math.max(1, pausedUntilNs - System.nanoTime()) : 0;
    }

    /** Closes the connection that has been incomplete for longest. */
    private void closeSlowest() {
        Set<Connection> slowest = receiving.isEmpty() ? sending : receiving;
        if (!slowest.isEmpty()) {
            slowest.iterator().next().close();
        }
    }

    /** Something that a connection does; a failure closes it. */
    @FunctionalInterface
    private interface Action {
        void run() throws IOException;
    }

    /** A connection of a client. Serving thread. */
    private final class Connection {
        private final SocketChannel channel;
        private ByteBuffer head = ByteBuffer.allocate(FIRST_HEAD_BYTES);
        private boolean isHead;

        /** The parts of the answer that are not sent; null before the answer. */
        private @Nullable Deque<ByteBuffer> answer;

        /** The end of the time limit for receiving the request, or for sending the answer. */
        private long deadlineNs = System.nanoTime() + limitNs;

        Connection(SocketChannel channel) {
            this.channel = channel;
            connections++;
        }

        /** Does something for the client. A failure, also for want of memory, ends this connection and no other. */
        void guarded(Action action) {
            try {
                action.run();
            } catch (IOException | RuntimeException | OutOfMemoryError failed) {
                close();
            }
        }

        void begin() throws IOException {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, this);
            receiving.add(this);
            receive();
        }

        void close() {
            try {
                if (channel.isOpen()) {
                    connections--;
                    receiving.remove(this);
                    sending.remove(this);
                    channel.close();
                }
            } catch (IOException unlikely) {
                // The channel counts as closed.
            }
        }

        private void await(int operations) {
            channel.keyFor(selector).interestOps(operations);
        }

        /** Continues after the client has sent something, or can receive something. */
        void proceed() throws IOException {
            if (answer == null) {
                receive();
            } else if (answer.isEmpty()) {
                discard();
            } else {
                send(answer);
            }
        }

        private void receive() throws IOException {
            int known = head.position();
            if (channel.read(head) < 0) {
                close();
                return;
            }
            if (known == 0) {
                skipLineBreaks();
            }
            int end = endOfHead(Math.max(1, known - 1));
            if (end > 0) {
                request(new String(head.array(), 0, end, StandardCharsets.ISO_8859_1));
            } else if (head.position() == MOST_HEAD_BYTES) {
                answer(Answer.of(431, "the headers have more than " + MOST_HEAD_BYTES + " bytes"));
            } else if (!head.hasRemaining()) {
                head = ByteBuffer.allocate(2 * head.capacity()).put(head.flip());
            }
        }

        /** Removes line breaks before the request, which servers ignore. */
        private void skipLineBreaks() {
            head.flip();
            while (head.hasRemaining() && (head.get(head.position()) == '\r' || head.get(head.position()) == '\n')) {
                head.get();
            }
            head.compact();
        }

        /** Returns the end of the line before the empty line that ends the headers; 0 if that has not arrived. */
        private int endOfHead(int from) {
            for (int at = from; at < head.position(); at++) {
                if (head.get(at) == '\n' && head.get(at - 1) == '\n') {
                    return at;
                }
                if (head.get(at) == '\n' && head.get(at - 1) == '\r' && at > 1 && head.get(at - 2) == '\n') {
                    return at - 1;
                }
            }
            return 0;
        }

        private void request(String text) throws IOException {
            RequestHead request;
            try {
                request = RequestHead.parse(text, isLocal);
            } catch (RequestHead.Refusal refused) {
                answer(Answer.of(refused.status, refused.getMessage()));
                return;
            }
            receiving.remove(this);
            await(0);
            isHead = request.isHead();
            Wanted wanted = new Wanted(request.path(), request.takesOpenMetrics());
            boolean isFirst;
            synchronized (waiting) {
                List<Connection> others = waiting.computeIfAbsent(wanted, none -> new ArrayList<>());
                isFirst = others.isEmpty();
                others.add(this);
            }
            if (isFirst) {
                renderer.execute(() -> render(wanted));
            }
        }

        private void answer(Answer given) throws IOException {
            answer(given, given.text().getBytes(StandardCharsets.UTF_8));
        }

        void answer(Answer given, byte[] text) throws IOException {
            Deque<ByteBuffer> parts = new ArrayDeque<>();
            parts.add(ByteBuffer.wrap(given.head(text.length).getBytes(StandardCharsets.US_ASCII)));
            if (!isHead && text.length > 0) {
                parts.add(ByteBuffer.wrap(text));
            }
            answer = parts;
            receiving.remove(this);
            deadlineNs = System.nanoTime() + limitNs;
            sending.add(this);
            await(SelectionKey.OP_WRITE);
            send(parts);
        }

        private void send(Deque<ByteBuffer> parts) throws IOException {
            ByteBuffer part = parts.element();
            int sent = channel.write(part.slice(part.position(), Math.min(part.remaining(), SENT_AT_ONCE)));
            part.position(part.position() + sent);
            if (!part.hasRemaining()) {
                parts.remove();
            }
            if (parts.isEmpty()) {
                channel.shutdownOutput();
                await(SelectionKey.OP_READ);
            }
        }

        /** Reads on until the client closes: closing before it has sent everything could destroy the answer. */
        private void discard() throws IOException {
            if (channel.read(discarded.clear()) < 0) {
                close();
            }
        }
    }

    // ---- the rendering thread ----

    private void render(Wanted wanted) {
        List<Connection> clients;
        synchronized (waiting) {
            clients = Objects.requireNonNull(waiting.remove(wanted), "clients");
        }
        Answer answer;
        byte[] text;
        try {
            answer = pages.render(wanted.path(), wanted.openMetrics());
            text = answer.text().getBytes(StandardCharsets.UTF_8);
        } catch (RuntimeException | Error failed) {
            answer = Answer.of(500, "the page cannot be rendered: " + failed);
            text = answer.text().getBytes(StandardCharsets.UTF_8);
        }
        Answer given = answer;
        byte[] bytes = text;
        rendered.add(() -> clients.forEach(client -> client.guarded(() -> client.answer(given, bytes))));
        selector.wakeup();
    }
}

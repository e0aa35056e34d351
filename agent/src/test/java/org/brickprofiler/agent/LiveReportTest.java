package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that do not end, and answers that the client does not read, beside valid requests. */
final class LiveReportTest {

    /** Below the time limit of a test, and far above the time of an answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** More requests than the server has threads. */
    private static final int MANY = 24;

    private final BrickProfiler profiler = BrickProfiler.enabled();
    private final List<Socket> open = new ArrayList<>();

    LiveReportTest() {
        profiler.record(BrickId.LM_HEAD, 10, 1);
    }

    private CurrentReport report() {
        return new CurrentReport(profiler.snapshot(), profiler.progress(), null, Optional.empty(), Optional.empty());
    }

    @AfterEach
    void close() throws IOException {
        for (Socket each : open) {
            each.close();
        }
    }

    private Socket sends(URI address, String request) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), address.getPort());
        open.add(socket);
        OutputStream out = socket.getOutputStream();
        out.write(request.getBytes(StandardCharsets.US_ASCII));
        out.flush();
        return socket;
    }

    private static void assertAnswers(URI address) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(address.resolve("/profile.json"))
                .timeout(PATIENCE)
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).contains("LmHead");
    }

    /** The time limit of a request is longer than the test waits. */
    @Test
    void requestsThatNeverEndBlockNobody() throws Exception {
        URI address = URI.create(LiveReport.open(0, PATIENCE.multipliedBy(10), this::report));
        for (int request = 0; request < MANY; request++) {
            sends(address, "GET / HT");
        }
        assertAnswers(address);
        assertAnswers(address);
    }

    /** A request waits far longer if slow connections occupy all threads; a busy machine takes a part of it. */
    private static final Duration LONGEST = Duration.ofSeconds(6);

    /** The connections come back when they are closed, and send a byte each second, as a slow client would. */
    @Test
    void aThousandSlowConnectionsDelayNobody() throws Exception {
        long threadsBefore = threads();
        URI address = URI.create(LiveReport.open(0, this::report));
        AtomicReferenceArray<Socket> slow = new AtomicReferenceArray<>(1_000);
        ScheduledExecutorService clock = Executors.newScheduledThreadPool(2);
        try {
            Future<?> sends = clock.scheduleAtFixedRate(() -> sendByte(address, slow), 0, 1, TimeUnit.SECONDS);
            Future<Duration> slowest = clock.schedule(() -> slowestOf(address, 20), 2, TimeUnit.SECONDS);
            assertThat(slowest.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isLessThan(LONGEST);
            assertThat(sends).isNotDone();
            assertThat(threads() - threadsBefore).isBetween(1L, 16L);
        } finally {
            clock.shutdownNow();
            assertThat(clock.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            for (int each = 0; each < slow.length(); each++) {
                close(slow.get(each));
            }
        }
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(each -> each.getName().equals("brick-agent-port"))
                .count();
    }

    private static void sendByte(URI address, AtomicReferenceArray<Socket> slow) {
        for (int each = 0; each < slow.length(); each++) {
            Socket socket = slow.get(each);
            try {
                if (socket == null) {
                    socket = new Socket(InetAddress.getLoopbackAddress(), address.getPort());
                    slow.set(each, socket);
                }
                socket.getOutputStream().write('G');
            } catch (IOException closed) {
                close(socket);
                slow.set(each, null);
            }
        }
    }

    private static void close(@Nullable Socket socket) {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException closed) {
            // It is closed.
        }
    }

    private static Duration slowestOf(URI address, int requests) throws Exception {
        Duration slowest = Duration.ZERO;
        for (int request = 0; request < requests; request++) {
            long startNs = System.nanoTime();
            assertAnswers(address);
            Duration taken = Duration.ofNanos(System.nanoTime() - startNs);
            slowest = taken.compareTo(slowest) > 0 ? taken : slowest;
        }
        return slowest;
    }

    @Test
    void requestsThatDoNotEndAreCutOff() throws Exception {
        URI address = URI.create(LiveReport.open(0, Duration.ofMillis(300), this::report));
        List<Socket> stuck = new ArrayList<>();
        for (int request = 0; request < MANY; request++) {
            stuck.add(sends(address, request % 2 == 0 ? "GET / HT" : "GET / HTTP/1.1\r\nHost: localhost\r\nX-"));
        }
        assertAnswers(address);
        for (Socket each : stuck) {
            each.setSoTimeout((int) PATIENCE.toMillis());
            // The connection ends, or the server answers that the request was bad; it never waits forever.
            each.getInputStream().readAllBytes();
        }
        assertAnswers(address);
    }

    /** The answers fill the buffers of both sides. */
    @Test
    void answersThatNobodyReadsAreCutOff() throws Exception {
        for (int brick = 0; brick < 4_000; brick++) {
            profiler.record("a brick with a long name, of which there are many, number " + brick, 10, 1);
        }
        URI address = URI.create(LiveReport.open(0, Duration.ofMillis(500), this::report));
        for (int request = 0; request < MANY; request++) {
            sends(address, "GET /profile.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20));
        }
        assertAnswers(address);
    }
}

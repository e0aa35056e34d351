package org.brickprofiler.agent;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests by real sockets: valid, malformed, huge, slow, in pieces, several at once. */
final class PageServerTest {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int PATIENCE_MS = 60_000;
    private static final String HOST = "Host: localhost\r\n";
    private static final String GET = "GET / HTTP/1.1\r\n" + HOST + "\r\n";
    private static final Pattern LENGTH = Pattern.compile("Content-Length: (\\d+)");

    private final List<Socket> open = new ArrayList<>();
    private final int port =
            open(LONG, (path, openMetrics) -> new PageServer.Answer(200, "text/html", "page " + path + " é"));

    private static int open(Duration limit, PageServer.Pages pages) {
        try {
            return PageServer.open(0, limit, "brick-test-port", pages);
        } catch (IOException taken) {
            throw new AssertionError(taken);
        }
    }

    @AfterEach
    void close() throws IOException {
        for (Socket each : open) {
            each.close();
        }
    }

    private Socket connect(int to) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), to);
        socket.setSoTimeout(PATIENCE_MS);
        open.add(socket);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(text.getBytes(ISO_8859_1));
        out.flush();
    }

    /** Returns all that the server sends before it closes. */
    private static String receive(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
    }

    private String exchange(String request) throws IOException {
        Socket socket = connect(port);
        send(socket, request);
        return receive(socket);
    }

    private static String status(String answer) {
        return answer.substring("HTTP/1.1 ".length(), "HTTP/1.1 200".length());
    }

    @Test
    void anAnswerHasItsHeadersAndText() throws IOException {
        String answer = exchange(GET);
        assertThat(answer)
                .startsWith("HTTP/1.1 200 OK\r\nDate: ")
                .contains("\r\nContent-Type: text/html; charset=utf-8\r\n")
                .contains("\r\nCache-Control: no-store\r\n")
                .contains("\r\nConnection: close\r\n")
                .endsWith("\r\n\r\npage / Ã©");
        Matcher length = LENGTH.matcher(answer);
        assertThat(length.find()).isTrue();
        assertThat(Integer.parseInt(length.group(1))).isEqualTo("page / Ã©".length());
    }

    @Test
    void headHasTheHeadersOfGetAndNoText() throws IOException {
        Pattern date = Pattern.compile("Date: [^\r]*");
        String get = date.matcher(exchange(GET)).replaceFirst("");
        String head = date.matcher(exchange(GET.replace("GET", "HEAD"))).replaceFirst("");
        assertThat(get).isEqualTo(head + "page / Ã©");
    }

    @Test
    void anotherClientUnderstandsTheServer() throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (int request = 0; request < 3; request++) {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/a%20b?query"))
                            .timeout(Duration.ofMillis(PATIENCE_MS))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("page /a b é");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        200 | GET / HTTP/1.0~Host: 127.0.0.1:8080
        200 | GET / HTTP/1.1~host:[::1]:1
        200 | GET / HTTP/1.1~X: \t any ~Host: LOCALHOST ~
        200 | GET http://localhost:1/x HTTP/1.1~Host: localhost
        200 | ~~GET / HTTP/1.1~Host: localhost
        403 | GET / HTTP/1.1
        403 | GET / HTTP/1.1~X: localhost
        403 | GET / HTTP/1.1~Host: example.com
        403 | GET / HTTP/1.1~Host: localhost.example.com
        403 | GET / HTTP/1.1~Host: localhost:80:80
        403 | GET http://example.com/ HTTP/1.1~Host: localhost
        403 | GET //example.com/ HTTP/1.1~Host: localhost
        400 | GET / HTTP/1.1~Host: localhost~Host: example.com
        400 | GET / HTTP/1.1~Host : localhost
        400 | GET / HTTP/1.1~Host: localhost~ continued
        400 | GET / HTTP/1.1~nonsense
        400 | GET / HTTP/1.1~: nothing
        400 | GET  / HTTP/1.1~Host: localhost
        400 | GET / x HTTP/1.1~Host: localhost
        400 | GET /
        400 | GET / HTTP/1.1 ~Host: localhost
        400 | GET /{} HTTP/1.1~Host: localhost
        400 | GET /%zz HTTP/1.1~Host: localhost
        400 | GET /\u0001 HTTP/1.1~Host: localhost
        400 | GET / HTTP/1.1~Host: local\u0000host
        400 | '\u0016\u0003\u0001\u0002'
        505 | GET / HTTP/2.0~Host: localhost
        505 | PRI * HTTP/2.0
        405 | POST / HTTP/1.1~Host: localhost
        405 | get / HTTP/1.1~Host: localhost
        405 | OPTIONS * HTTP/1.1~Host: localhost
        """)
    void eachRequestHasItsStatus(String status, String request) throws IOException {
        assertThat(status(exchange(request.replace("~", "\r\n") + "\r\n\r\n"))).isEqualTo(status);
        assertThat(status(exchange(request.replace("~", "\n") + "\n\n"))).isEqualTo(status);
    }

    @Test
    void anUnsupportedMethodIsToldTheSupportedOnes() throws IOException {
        assertThat(exchange("DELETE / HTTP/1.1\r\n" + HOST + "\r\n"))
                .contains("\r\nAllow: GET, HEAD\r\n")
                .endsWith("\r\n\r\nonly GET and HEAD are supported\n");
    }

    @Test
    void aRequestMayComeByteByByte() throws IOException {
        Socket socket = connect(port);
        socket.setTcpNoDelay(true);
        for (char each : ("\r\n\r\n" + GET).toCharArray()) {
            send(socket, String.valueOf(each));
        }
        assertThat(receive(socket)).endsWith("page / Ã©");
    }

    @Test
    void aClientThatEndsItsSideIsAnswered() throws IOException {
        Socket socket = connect(port);
        send(socket, GET);
        socket.shutdownOutput();
        assertThat(receive(socket)).endsWith("page / Ã©");
    }

    @Test
    void ofRequestsInOneGoTheFirstIsAnswered() throws IOException {
        assertThat(exchange(GET + GET.replace("/ ", "/second ") + "nonsense\r\n\r\n"))
                .endsWith("page / Ã©")
                .containsOnlyOnce("HTTP/1.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "GET"})
    void aLargeBodyIsReadAndLeftOut(String method) throws IOException {
        Socket socket = connect(port);
        send(socket, method + " / HTTP/1.1\r\n" + HOST + "Content-Length: 10000000\r\n\r\n");
        send(socket, "x".repeat(10_000_000));
        assertThat(status(receive(socket))).isEqualTo(method.equals("GET") ? "200" : "405");
    }

    @ParameterizedTest
    @CsvSource({"30000, 200", "32767, 431", "32768, 431", "32769, 431", "1000000, 431"})
    void longHeadersAreRefused(int bytes, String status) throws IOException {
        String answer = exchange("GET / HTTP/1.1\r\n" + HOST + "Cookie: " + "c".repeat(bytes) + "\r\n\r\n");
        assertThat(status(answer)).isEqualTo(status);
    }

    @Test
    void anEndlessRequestLineIsRefused() throws IOException {
        Socket socket = connect(port);
        send(socket, "G".repeat(PageServer.MOST_HEAD_BYTES));
        assertThat(status(receive(socket))).isEqualTo("431");
    }

    @Test
    void lineBreaksAloneAreNoRequest() throws IOException {
        int impatient = open(Duration.ofMillis(300), (path, openMetrics) -> PageServer.Answer.of(200, path));
        Socket socket = connect(impatient);
        send(socket, "\r\n".repeat(1_000));
        assertThat(receive(socket)).isEmpty();
    }

    @Test
    void aLargePageArrivesWhole() throws IOException {
        String page = "0123456789".repeat(2_000_000);
        int large = open(LONG, (path, openMetrics) -> new PageServer.Answer(200, "text/plain", page));
        Socket socket = connect(large);
        send(socket, GET);
        assertThat(receive(socket).endsWith("\r\n\r\n" + page)).isTrue();
    }

    /** The answer fills the buffers of both sides, so it cannot be sent within the limit. */
    @Test
    void anAnswerThatNobodyReadsIsCutOff() throws IOException {
        String page = "x".repeat(50_000_000);
        int large = open(Duration.ofMillis(500), (path, openMetrics) -> new PageServer.Answer(200, "text/plain", page));
        Socket idle = connect(large);
        send(idle, GET);
        for (long endNs = System.nanoTime() + 3_000_000_000L; System.nanoTime() - endNs < 0; ) {
            Socket other = connect(large);
            send(other, "GET / HTTP/1.1\r\n\r\n");
            assertThat(status(receive(other))).isEqualTo("403");
            other.close();
        }
        long received = 0;
        try (InputStream rest = idle.getInputStream()) {
            for (int read = 0; read >= 0; read = rest.read(new byte[1 << 16])) {
                received += read;
            }
        } catch (IOException reset) {
            // The server closed with an answer that is not sent.
        }
        assertThat(received).isBetween(1L, 49_999_999L);
    }

    /** A rendering that takes long delays neither refusals nor the requests that share the next one. */
    @Test
    void requestsThatWaitForOnePathShareARendering() throws Exception {
        CountDownLatch renders = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        AtomicInteger rendered = new AtomicInteger();
        int slow = open(LONG, (path, openMetrics) -> {
            renders.countDown();
            await(goesOn);
            return PageServer.Answer.of(200, "rendering " + rendered.incrementAndGet());
        });
        Socket first = connect(slow);
        send(first, GET);
        renders.await();
        List<Socket> later = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            Socket socket = connect(slow);
            send(socket, GET);
            later.add(socket);
        }
        Socket refused = connect(slow);
        send(refused, "POST / HTTP/1.1\r\n" + HOST + "\r\n");
        assertThat(status(receive(refused))).isEqualTo("405");
        goesOn.countDown();
        assertThat(receive(first)).endsWith("rendering 1\n");
        for (Socket each : later) {
            assertThat(receive(each)).endsWith("rendering 2\n");
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException end) {
            throw new AssertionError(end);
        }
    }

    @Test
    void aFailureToRenderIsAnswered() throws IOException {
        int failing = open(LONG, (path, openMetrics) -> {
            if (path.equals("/error")) {
                throw new StackOverflowError();
            }
            throw new IllegalStateException("no snapshot");
        });
        for (String path : List.of("/error", "/", "/error")) {
            Socket socket = connect(failing);
            send(socket, GET.replace("/ ", path + " "));
            assertThat(status(receive(socket))).isEqualTo("500");
        }
    }

    /** Of connections that send nothing, only the oldest ones are closed, and they make room for the others. */
    @Test
    void theSlowestConnectionsMakeRoom() throws IOException {
        int further = 100;
        Socket[] idle = new Socket[PageServer.MOST_CONNECTIONS + further];
        for (int each = 0; each < idle.length; each++) {
            idle[each] = connect(port);
        }
        assertThat(exchange(GET)).endsWith("page / Ã©");
        for (Socket closed : Arrays.copyOf(idle, further)) {
            assertThat(closed.getInputStream().read()).isEqualTo(-1);
        }
        Socket youngest = idle[idle.length - 1];
        send(youngest, GET);
        assertThat(receive(youngest)).endsWith("page / Ã©");
    }

    @Test
    void aPortThatIsTakenIsAnError() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> PageServer.open(
                            other.getLocalPort(),
                            LONG,
                            "brick-test-port",
                            (path, openMetrics) -> PageServer.Answer.of(200, "")))
                    .isInstanceOf(BindException.class);
        }
    }
}

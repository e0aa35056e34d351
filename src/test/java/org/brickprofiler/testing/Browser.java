package org.brickprofiler.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A real browser without a window, driven over the DevTools protocol of Chromium
 * (chromedevtools.github.io/devtools-protocol). It shows one page at a time and records the errors of the page. Not
 * thread-safe.
 */
public final class Browser implements AutoCloseable {

    /** The names of Chromium; the first one on the path is used. */
    private static final List<String> PROGRAMS =
            List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");

    private static final Pattern ADDRESS = Pattern.compile("DevTools listening on (ws://\\S+)");
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Links that Chromium leaves in its profile when it is killed; they point outside of the test's folder. */
    private static final List<String> LINKS = List.of("SingletonLock", "SingletonSocket", "SingletonCookie");

    private final RunningProcess process;
    private final Path profile;
    private final WebSocket socket;
    private final BlockingQueue<JsonNode> received;
    private final List<String> complaints = new ArrayList<>();
    private final List<String> requests = new ArrayList<>();
    private String session = "";
    private boolean loaded;
    private int calls;

    private Browser(RunningProcess process, Path profile, WebSocket socket, BlockingQueue<JsonNode> received) {
        this.process = process;
        this.profile = profile;
        this.socket = socket;
        this.received = received;
    }

    /**
     * Starts a browser, or skips the test if there is none.
     *
     * @param profile an empty folder for its files
     */
    public static Browser start(Path profile) throws IOException, InterruptedException {
        String program = Fixture.BROWSER.needOneOf(PROGRAMS);
        List<String> options = new ArrayList<>(List.of(
                "--headless=new",
                "--disable-gpu",
                "--hide-scrollbars",
                "--no-first-run",
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-dev-shm-usage",
                "--window-size=1280,1400",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile));
        if (System.getProperty("user.name").equals("root")) {
            // As root, Chromium starts only without its sandbox. It opens no pages but those of the tests.
            options.add("--no-sandbox");
        }
        RunningProcess process = ChildProcess.of(program).arguments(options).start();
        try {
            BlockingQueue<JsonNode> received = new LinkedBlockingQueue<>();
            WebSocket socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .buildAsync(address(process), new Messages(received))
                    .join();
            Browser browser = new Browser(process, profile, socket, received);
            browser.attach();
            return browser;
        } catch (IOException | InterruptedException | RuntimeException | AssertionError failed) {
            process.close();
            throw failed;
        }
    }

    private static URI address(RunningProcess process) throws InterruptedException {
        long deadlineNs = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() < deadlineNs) {
            Matcher line = ADDRESS.matcher(process.printed());
            if (line.find()) {
                return URI.create(line.group(1));
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
        throw new AssertionError("the browser did not start: " + process.printed());
    }

    /** Assembles messages from their parts. */
    private static final class Messages implements WebSocket.Listener {
        private final BlockingQueue<JsonNode> received;
        private final StringBuilder message = new StringBuilder();

        Messages(BlockingQueue<JsonNode> received) {
            this.received = received;
        }

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
            message.append(part);
            if (last) {
                try {
                    received.add(JSON.readTree(message.toString()));
                } catch (IOException e) {
                    throw new AssertionError("not JSON: " + message, e);
                }
                message.setLength(0);
            }
            socket.request(1);
            return null;
        }
    }

    private void attach() throws IOException, InterruptedException {
        String target = call("Target.createTarget", Map.of("url", "about:blank"))
                .get("targetId")
                .asText();
        session = call("Target.attachToTarget", Map.of("targetId", target, "flatten", true))
                .get("sessionId")
                .asText();
        for (String domain : List.of("Page", "Runtime", "Log", "Network")) {
            call(domain + ".enable", Map.of());
        }
    }

    /** Sends a command of the protocol and waits for its answer. */
    private JsonNode call(String method, Map<String, Object> parameters) throws IOException, InterruptedException {
        ObjectNode message = JSON.createObjectNode().put("id", ++calls).put("method", method);
        message.set("params", JSON.valueToTree(parameters));
        if (!session.isEmpty()) {
            message.put("sessionId", session);
        }
        socket.sendText(JSON.writeValueAsString(message), true).join();
        int id = calls;
        JsonNode answer = next();
        while (answer.path("id").asInt() != id) {
            answer = next();
        }
        if (answer.has("error")) {
            throw new AssertionError(method + ": " + answer.get("error"));
        }
        return answer.get("result");
    }

    /** Returns the next message. Records events of the page. */
    private JsonNode next() throws InterruptedException {
        JsonNode message = received.poll(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        if (message == null) {
            throw new AssertionError("the browser is silent: " + process.printed());
        }
        JsonNode parameters = message.path("params");
        switch (message.path("method").asText()) {
            case "Page.loadEventFired" -> loaded = true;
            case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded" ->
                complaints.add(parameters.toString());
            case "Network.requestWillBeSent" ->
                requests.add(parameters.path("request").path("url").asText());
            default -> {
                // Other messages are ignored.
            }
        }
        return message;
    }

    /** Opens a page from the disk and waits until it is loaded. The state of an earlier page is discarded. */
    public void open(Path page) throws IOException, InterruptedException {
        open(page, "");
    }

    /** Opens a page as {@link #open(Path)}, at a part of its address that begins with {@code #}; empty for none. */
    public void open(Path page, String fragment) throws IOException, InterruptedException {
        // From the same page, the browser would only move to the fragment.
        load("about:blank");
        complaints.clear();
        requests.clear();
        load(page.toUri() + fragment);
    }

    private void load(String address) throws IOException, InterruptedException {
        loaded = false;
        call("Page.navigate", Map.of("url", address));
        while (!loaded) {
            next();
        }
    }

    /** Returns everything that the page printed or threw, and everything that the browser refused. */
    public List<String> complaints() {
        return List.copyOf(complaints);
    }

    /** Returns the addresses that the page requested, including its own. */
    public List<String> requests() {
        return List.copyOf(requests);
    }

    /** Returns the value of an expression in the page; for a promise, its result. */
    public JsonNode evaluate(String expression) throws IOException, InterruptedException {
        JsonNode answer =
                call("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true, "awaitPromise", true));
        if (answer.has("exceptionDetails")) {
            throw new AssertionError(expression + ": " + answer.get("exceptionDetails"));
        }
        return answer.get("result").path("value");
    }

    /** Returns the text of the first element that a CSS selector finds. */
    public String text(String selector) throws IOException, InterruptedException {
        return evaluate("document.querySelector(" + JSON.writeValueAsString(selector) + ").textContent")
                .asText();
    }

    /** Returns the texts of all elements that a CSS selector finds, in order. */
    public List<String> texts(String selector) throws IOException, InterruptedException {
        List<String> texts = new ArrayList<>();
        evaluate("Array.from(document.querySelectorAll(" + JSON.writeValueAsString(selector)
                        + "), (element) => element.textContent)")
                .forEach(text -> texts.add(text.asText()));
        return texts;
    }

    /** Presses and releases a key of the keyboard: {@code Tab} or {@code Enter}. */
    public void press(String key) throws IOException, InterruptedException {
        String text = key.equals("Enter") ? "\r" : "";
        int code = key.equals("Enter") ? 13 : 9;
        String type = text.isEmpty() ? "rawKeyDown" : "keyDown";
        call("Input.dispatchKeyEvent", Map.of("type", type, "key", key, "windowsVirtualKeyCode", code, "text", text));
        call("Input.dispatchKeyEvent", Map.of("type", "keyUp", "key", key, "windowsVirtualKeyCode", code));
    }

    /** Types a text into the focused element. */
    public void type(String text) throws IOException, InterruptedException {
        call("Input.insertText", Map.of("text", text));
    }

    /** Sets the colour scheme that the system prefers: {@code light} or {@code dark}. */
    public void prefer(String scheme) throws IOException, InterruptedException {
        call(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    /** Sets the medium for which the page is laid out: {@code print}, or empty for the screen. */
    public void layOutFor(String medium) throws IOException, InterruptedException {
        call("Emulation.setEmulatedMedia", Map.of("media", medium));
    }

    /** Sets the size of the window, in pixels. */
    public void resize(int width, int height) throws IOException, InterruptedException {
        call(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    /** Returns a picture of the window, as PNG. */
    public byte[] picture() throws IOException, InterruptedException {
        return Base64.getDecoder()
                .decode(call("Page.captureScreenshot", Map.of("format", "png"))
                        .get("data")
                        .asText());
    }

    /** Returns the page as it prints, as PDF. */
    public byte[] pdf() throws IOException, InterruptedException {
        return Base64.getDecoder()
                .decode(call("Page.printToPDF", Map.of("preferCSSPageSize", true, "printBackground", false))
                        .get("data")
                        .asText());
    }

    @Override
    public void close() throws IOException {
        socket.abort();
        process.close();
        for (String link : LINKS) {
            Files.deleteIfExists(profile.resolve(link));
        }
    }
}

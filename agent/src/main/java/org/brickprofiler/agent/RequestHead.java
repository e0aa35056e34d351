package org.brickprofiler.agent;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The request line and the headers of an HTTP/1 request, as far as {@link PageServer} uses them.
 *
 * @param isHead true for HEAD, false for GET
 * @param path the decoded path, without the query
 * @param takesOpenMetrics whether the client accepts the format of OpenMetrics
 */
record RequestHead(boolean isHead, String path, boolean takesOpenMetrics) {

    private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";

    private static final Pattern REQUEST_LINE = Pattern.compile("(" + TOKEN + ") ([!-~]+) HTTP/(\\d)\\.(\\d)");

    /** A header of one line. Continuation lines are obsolete, and servers may refuse them. */
    private static final Pattern HEADER = Pattern.compile("(" + TOKEN + "):[ \t]*([^\\x00-\\x08\\x0A-\\x1F\\x7F]*)");

    private static final Pattern THIS_MACHINE =
            Pattern.compile("(127\\.0\\.0\\.1|localhost|\\[::1])(:\\d{0,5})?", Pattern.CASE_INSENSITIVE);

    /** A request that is not served. */
    static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;

        /** The status of the answer. */
        final int status;

        /** Creates a refusal; its message is the text of the answer. */
        Refusal(int status, String message) {
            super(message);
            this.status = status;
        }

        @Override
        public String getMessage() {
            return String.valueOf(super.getMessage());
        }
    }

    /**
     * Reads the head of a request.
     *
     * @param text the request up to the line break that ends its last header, each byte as one character
     * @param isForThisMachine whether its Host header must name this machine
     * @return the request
     * @throws Refusal when the request is malformed, is neither GET nor HEAD, or names another machine
     */
    static RequestHead parse(String text, boolean isForThisMachine) throws Refusal {
        List<String> lines = List.of(text.split("\r?\n"));
        Matcher line = REQUEST_LINE.matcher(lines.get(0));
        if (!line.matches()) {
            throw new Refusal(400, "the first line is no request of HTTP/1.1");
        }
        if (!line.group(3).equals("1")) {
            throw new Refusal(505, "only HTTP/1.1 is supported");
        }
        List<String> headers = lines.subList(1, lines.size());
        List<String> hosts = values(headers, "host");
        URI target = target(line.group(2));
        if (hosts.size() > 1) {
            throw new Refusal(400, "there are several Host headers");
        }
        if (isForThisMachine) {
            requireThisMachine(hosts, target.getRawAuthority());
        }
        boolean isHead = line.group(1).equals("HEAD");
        if (!isHead && !line.group(1).equals("GET")) {
            throw new Refusal(405, "only GET and HEAD are supported");
        }
        return new RequestHead(
                isHead,
                Optional.ofNullable(target.getPath()).orElse(""),
                values(headers, "accept").stream().anyMatch(each -> each.contains("application/openmetrics-text")));
    }

    /** Returns the values of the headers of a name. */
    private static List<String> values(List<String> headers, String name) throws Refusal {
        List<String> values = new ArrayList<>();
        for (String each : headers) {
            Matcher header = HEADER.matcher(each);
            if (!header.matches()) {
                throw new Refusal(400, "a header is malformed");
            }
            if (header.group(1).equalsIgnoreCase(name)) {
                values.add(header.group(2).strip());
            }
        }
        return values;
    }

    private static URI target(String target) throws Refusal {
        try {
            return new URI(target);
        } catch (URISyntaxException malformed) {
            throw new Refusal(400, "the target of the request is malformed");
        }
    }

    /**
     * Refuses a request that names another machine. The check prevents DNS rebinding, by which a page of another site
     * could read the report.
     */
    private static void requireThisMachine(List<String> hosts, @Nullable String authority) throws Refusal {
        boolean isHere = !hosts.isEmpty()
                && THIS_MACHINE.matcher(hosts.get(0)).matches()
                && (authority == null || THIS_MACHINE.matcher(authority).matches());
        if (!isHere) {
            throw new Refusal(403, "the Host header must be 127.0.0.1 or localhost");
        }
    }
}

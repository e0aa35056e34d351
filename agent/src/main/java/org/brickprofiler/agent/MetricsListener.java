package org.brickprofiler.agent;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.access.CurrentSums;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.metrics.Recent;
import org.brickprofiler.metrics.prometheus.MetricsPage;
import org.brickprofiler.metrics.prometheus.MetricsPage.Format;
import org.brickprofiler.spi.NanoClock;

/**
 * Serves the metrics of a profiler to Prometheus, which often runs on another machine: {@code /metrics} and nothing
 * else, in the format that the client accepts. Stateless; any thread.
 */
final class MetricsListener {

    static final String THREADS = "brick-agent-metrics";

    private static final String PATH = "/metrics";

    /** The time for receiving a request, and for sending an answer. */
    private static final Duration LIMIT = Duration.ofSeconds(10);

    /** The time for which a reading is reused, so that several servers cost no more than one. */
    private static final Duration AGE = Duration.ofMillis(500);

    /**
     * The address of the listener.
     *
     * @param host the name or the number of an address of this machine; empty for the loopback address
     * @param port the port, 0 for any that is free
     * @param tried the number of ports from this one on, of which the first free one is opened
     */
    record Place(String host, int port, int tried) {

        /** The ports that are tried if the option ends with a plus: replicas on one machine share their options. */
        private static final int TRIED = 16;

        private static final Pattern FORM = Pattern.compile("(?:(\\[[0-9A-Fa-f:.%]+]|[^:\\s]+):)?(\\d{1,5})(\\+?)");

        /**
         * Reads {@code [HOST:]PORT} or {@code [HOST:]PORT+}; a number of IPv6 is in brackets.
         *
         * @throws IllegalArgumentException when the text has another form, or the port is too large
         */
        static Place parse(String text) {
            Matcher parts = FORM.matcher(text);
            if (!parts.matches() || Integer.parseInt(parts.group(2)) > AgentOptions.LAST_PORT) {
                throw new IllegalArgumentException("metrics=" + text
                        + " is not [HOST:]PORT, with a port from 0 to " + AgentOptions.LAST_PORT
                        + ", as in metrics=0.0.0.0:9400;"
                        + " 9400+ takes the first free port of " + TRIED);
            }
            String host = parts.group(1) == null ? "" : parts.group(1);
            boolean isFirst = !parts.group(3).isEmpty();
            return new Place(host, Integer.parseInt(parts.group(2)), isFirst ? TRIED : 1);
        }

        private InetAddress address() throws UnknownHostException {
            return host.isEmpty() ? InetAddress.getLoopbackAddress() : InetAddress.getByName(host);
        }

        @Override
        public String toString() {
            return (host.isEmpty() ? "" : host + ":") + port + (tried > 1 ? "+" : "");
        }
    }

    private MetricsListener() {}

    /**
     * Opens the listener.
     *
     * @return the address of the page
     * @throws IOException when each of the ports is taken, or this machine does not have the address
     */
    static String open(Place place, BrickProfiler profiler) throws IOException {
        InetAddress address = place.address();
        Recent<CurrentSums> recent = new Recent<>(() -> ProfilerAccess.sums(profiler), AGE, NanoClock.SYSTEM);
        MetricsPage page = new MetricsPage();
        int last = Math.min(AgentOptions.LAST_PORT, place.port() + place.tried() - 1);
        for (int port = place.port(); ; port++) {
            try {
                int opened = PageServer.open(
                        new InetSocketAddress(address, port),
                        LIMIT,
                        THREADS,
                        (path, openMetrics) -> answer(path, openMetrics, page, recent));
                String host = place.host().isEmpty() ? "localhost" : place.host();
                return "http://" + host + ":" + opened + PATH;
            } catch (BindException taken) {
                if (port == last) {
                    throw taken;
                }
            }
        }
    }

    private static PageServer.Answer answer(
            String path, boolean openMetrics, MetricsPage page, Recent<CurrentSums> recent) {
        if (!path.equals(PATH)) {
            return PageServer.Answer.of(404, "not found; the path is " + PATH);
        }
        Format format = openMetrics ? Format.OPEN_METRICS : Format.PROMETHEUS;
        return new PageServer.Answer(200, format.type(), page.render(recent.read(), format));
    }
}

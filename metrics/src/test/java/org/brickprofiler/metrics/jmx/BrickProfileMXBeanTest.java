package org.brickprofiler.metrics.jmx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import java.util.List;
import java.util.Map;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.OpenType;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BrickProfileMXBeanTest {

    /** A program that uses only the JDK: it connects, prints, switches the profiler off and resets it. */
    private static final String CLIENT = """
            import java.util.Arrays;
            import javax.management.*;
            import javax.management.openmbean.CompositeData;
            import javax.management.remote.*;

            public class Client {
                public static void main(String[] args) throws Exception {
                    try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(args[0]))) {
                        MBeanServerConnection server = connector.getMBeanServerConnection();
                        ObjectName name = new ObjectName(args[1]);
                        for (CompositeData each : (CompositeData[]) server.getAttribute(name, "Bricks")) {
                            System.out.println(each.get("name") + " " + each.get("category") + " " + each.get("count")
                                    + " " + each.get("totalNs") + " " + each.get("minNs") + " " + each.get("p50Ns")
                                    + " " + each.get("p99Ns") + " " + each.get("maxNs") + " " + each.get("elements"));
                        }
                        for (CompositeData each : (CompositeData[]) server.getAttribute(name, "Categories")) {
                            System.out.println(each.get("name") + " " + each.get("percentOfBrickTime"));
                        }
                        for (Object each : server.getAttributes(name, new String[] {"Samples", "TotalNs", "Enabled"})) {
                            System.out.println(each);
                        }
                        server.setAttribute(name, new Attribute("Enabled", false));
                        server.invoke(name, "reset", new Object[0], new String[0]);
                        System.out.println("then " + server.getAttribute(name, "Samples"));
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    private final BrickProfiler profiler =
            BrickProfiler.builder().percentiles(true).build();

    BrickProfileMXBeanTest() {
        profiler.enable();
    }

    @Spec("20.6")
    @Test
    void aRemoteClientWithoutClassesOfTheLibraryReadsAndSwitches() throws Exception {
        profiler.record(BrickId.RMS_NORM, 100, 1);
        profiler.record(BrickId.RMS_NORM, 50, 2);
        profiler.record(BrickId.ROPE_EMBEDDING, 50, 4);
        MBeanServer server = MBeanServerFactory.newMBeanServer();
        ObjectName name = BrickProfileBean.register(profiler, "engine", server);
        JMXConnectorServer connector =
                JMXConnectorServerFactory.newJMXConnectorServer(new JMXServiceURL("rmi", "127.0.0.1", 0), null, server);
        connector.start();
        try {
            Path client = Files.writeString(folder.resolve("Client.java"), CLIENT);
            ProcessResult result = ChildProcess.java()
                    .arguments(List.of(
                            "-cp",
                            folder.toString(),
                            client.toString(),
                            connector.getAddress().toString(),
                            name.getCanonicalName()))
                    .run();

            assertThat(result.err()).isEmpty();
            assertThat(result.out().lines())
                    .containsExactly(
                            "RmsNorm Norm 2 150 50 50 100 100 3",
                            "RopeEmbedding Attention 1 50 50 50 50 50 4",
                            "Norm 75.0",
                            "Attention 25.0",
                            "Samples = 3",
                            "TotalNs = 200",
                            "Enabled = true",
                            "then 0");
            assertThat(profiler.isEnabled()).isFalse();
        } finally {
            connector.stop();
        }
    }

    @Spec("20.6")
    @Test
    void everyAttributeIsOfAnOpenType() throws Exception {
        MBeanServer server = MBeanServerFactory.newMBeanServer();
        ObjectName name = BrickProfileBean.register(profiler, "engine", server);

        assertThat(server.getMBeanInfo(name).getAttributes())
                .hasSize(16)
                .allSatisfy(attribute -> assertThat(attribute.getDescriptor().getFieldValue("openType"))
                        .isInstanceOf(OpenType.class))
                .allSatisfy(attribute -> assertThat(server.getAttribute(name, attribute.getName()))
                        .isNotNull());
        assertThat(server.invoke(name, "lines", null, null)).isNull();
    }

    @Spec("20.6")
    @Test
    void aBrickHasTheDistributionOfItsDurationsIfItWasRecorded() throws Exception {
        profiler.record(BrickId.RMS_NORM, 100, 1);
        profiler.record(BrickId.RMS_NORM, 5_000, 1);
        BrickProfiler without = BrickProfiler.builder().percentiles(false).build();
        without.enable();
        without.record(BrickId.RMS_NORM, 100, 1);
        MBeanServer server = MBeanServerFactory.newMBeanServer();

        CompositeData latency =
                (CompositeData) onlyBrick(server, profiler, "with").get("latency");

        assertThat(LatencyDistribution.ofCounts((int) latency.get("firstBucket"), (long[]) latency.get("counts")))
                .isEqualTo(profiler.brickStats(BrickId.RMS_NORM).latency().orElseThrow());
        assertThat(onlyBrick(server, without, "without").get("latency")).isNull();
    }

    private static CompositeData onlyBrick(MBeanServer server, BrickProfiler of, String name) throws Exception {
        CompositeData[] bricks =
                (CompositeData[]) server.getAttribute(BrickProfileBean.register(of, name, server), "Bricks");
        assertThat(bricks).hasSize(1);
        return bricks[0];
    }

    @Test
    void aResetAlsoCallsTheOwnersAction() throws Exception {
        StringBuilder said = new StringBuilder();
        ObjectName name = BrickProfileBean.register(profiler, "owner", () -> said.append("reset"));
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try {
            server.invoke(name, "reset", new Object[0], new String[0]);
        } finally {
            server.unregisterMBean(name);
        }
        assertThat(said).hasToString("reset");
    }

    @Spec("20.6")
    @Test
    void stepsAndRequestsAreSeen() throws Exception {
        MBeanServer server = MBeanServerFactory.newMBeanServer();
        ObjectName name = BrickProfileBean.register(profiler, "engine", server);
        profiler.requests().named(profiler.requests().arrived(9), "waits\n");
        long request = profiler.requests().arrived(3);
        for (int step = 0; step < 2; step++) {
            StepInfo.Phase phase = step == 0 ? StepInfo.Phase.PREFILL : StepInfo.Phase.DECODE;
            profiler.beginStep(new StepInfo(phase, 1, step == 0 ? 3 : 0, 0, 1, 0));
            profiler.requests().inStep(request, step == 0 ? 3 : 0);
            profiler.endPass();
        }
        profiler.requests().finished(request, Outcome.COMPLETED);

        CompositeData requests = (CompositeData) server.getAttribute(name, "Requests");
        assertThat(requests.getAll(new String[] {"arrived", "waiting", "running", "finished"}))
                .containsExactly(2L, 1L, 0L, 1L);
        CompositeData[] oldest = (CompositeData[]) requests.get("oldestLive");
        assertThat(oldest).hasSize(1);
        assertThat(oldest[0].getAll(new String[] {"id", "running"})).containsExactly("waits\n", false);
        assertThat(((Date) oldest[0].get("arrivedAt")).toInstant())
                .isCloseTo(Instant.now(), within(1, ChronoUnit.MINUTES));
        CompositeData[] slowest = (CompositeData[]) requests.get("slowest");
        assertThat(slowest).hasSize(1);
        assertThat(slowest[0].get("id")).isNull();
        assertThat(slowest[0].get("timeNs"))
                .isEqualTo(profiler.requests().recent().get(0).timeToFirstTokenNs());
        assertThat((String[]) server.getAttribute(name, "Progress"))
                .startsWith("Under way: 0 steps; 0 running requests, 1 waiting request.");
        assertThat((String[]) server.getAttribute(name, "RecentRequests"))
                .hasSize(3)
                .allMatch(text -> text.contains(": 1 request finished. Time to first token: p50 "));
        CompositeData firstToken = (CompositeData) requests.get("timeToFirstToken");
        LatencyDistribution read =
                LatencyDistribution.ofCounts((int) firstToken.get("firstBucket"), (long[]) firstToken.get("counts"));
        assertThat(read).isEqualTo(profiler.requests().stats().latencies().timeToFirstToken());
        assertThat((CompositeData[]) server.getAttribute(name, "Phases"))
                .extracting(each -> each.get("name") + " " + each.get("count") + " " + each.get("promptTokens") + " "
                        + each.get("outputTokens"))
                .contains("prefill 1 3 1", "decode 1 0 1");
    }

    /** The short watch that nobody renews stands for a client that has died. */
    @Spec("20.11")
    @Test
    void aProfilerThatWasOffIsOnOnlyWhileItIsWatched() throws Exception {
        MBeanServer server = MBeanServerFactory.newMBeanServer();
        ObjectName name = BrickProfileBean.register(profiler, "engine", server);
        assertThat(watch(server, name, 0))
                .as("on by the application, which stays")
                .isTrue();
        assertThat(watch(server, name, 1)).isTrue();
        assertThat(watch(server, name, 0)).isTrue();

        profiler.disable();
        assertThat(watch(server, name, 100_000)).isTrue();
        assertThat(watch(server, name, 0)).isFalse();
        assertThat(watch(server, name, 100_000)).isTrue();
        assertThat(watch(server, name, 20)).isTrue();
        while (profiler.isEnabled()) {
            Thread.onSpinWait();
        }
        assertThat(watch(server, name, 100_000)).isTrue();
        server.setAttribute(name, new Attribute("Enabled", true));
        assertThat(watch(server, name, 0)).as("switched on meanwhile").isTrue();
        assertThatThrownBy(() -> watch(server, name, -1)).hasRootCauseMessage("ms -1 is negative");
    }

    private static boolean watch(MBeanServer server, ObjectName name, long ms) throws Exception {
        return (boolean) server.invoke(name, "watch", new Object[] {ms}, new String[] {"long"});
    }

    @Test
    void aNameIsRegisteredOnce() throws Exception {
        ObjectName name = BrickProfileBean.register(profiler, "a=b, \"c\"*");
        try {
            assertThat(name.getKeyProperty("name")).isEqualTo(ObjectName.quote("a=b, \"c\"*"));
            assertThat(Map.of("domain", name.getDomain(), "type", name.getKeyProperty("type")))
                    .isEqualTo(Map.of("domain", "org.brickprofiler", "type", "BrickProfile"));
            assertThatThrownBy(() -> BrickProfileBean.register(profiler, "a=b, \"c\"*"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("a=b, \"c\"*");
        } finally {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
        }
        assertThatThrownBy(() -> BrickProfileBean.register(profiler, "")).isInstanceOf(IllegalArgumentException.class);
    }
}

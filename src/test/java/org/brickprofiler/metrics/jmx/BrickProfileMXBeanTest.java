package org.brickprofiler.metrics.jmx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.openmbean.OpenType;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BrickProfileMXBeanTest {

    /** A program of the JDK alone, which connects, prints, and switches the profiler off. */
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
            ProcessResult result = ChildProcess.of(Path.of(System.getProperty("java.home"), "bin", "java")
                            .toString())
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
                .hasSize(11)
                .allSatisfy(attribute -> assertThat(attribute.getDescriptor().getFieldValue("openType"))
                        .isInstanceOf(OpenType.class))
                .allSatisfy(attribute -> assertThat(server.getAttribute(name, attribute.getName()))
                        .isNotNull());
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

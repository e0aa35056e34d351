package org.brickprofiler.cli;

import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.trace.LineProfile;
import org.jspecify.annotations.Nullable;

/**
 * Reads a profiler of a process on this machine through an MXBean, which the agent registers, or an application by
 * {@code BrickProfileBean}. The process is reached as JConsole reaches it: through the management agent of its virtual
 * machine, which prints nothing and keeps listening on this machine. No agent of this project is attached.
 */
final class BeanSource implements TopSource {

    private static final String LOCAL_ADDRESS = "com.sun.management.jmxremote.localConnectorAddress";
    private static final String BEANS = "org.brickprofiler:type=BrickProfile,*";
    private static final String ENABLED = "Enabled";
    private static final String ENDED = "EndedAt";

    private static final String[] SUMS = {"StartedAt", "WallNs", "Bricks", "Phases", "Requests"};

    /** A process with an earlier version does not state it. */
    private static final String PROGRESS = "Progress";

    private static final String RECENT = "RecentRequests";

    /** The operation that returns the lines of bricks. A process with an earlier version has none. */
    private static final String LINES = "lines";

    private static final String[] READ =
            Stream.concat(Stream.of(SUMS), Stream.of(PROGRESS, RECENT)).toArray(String[]::new);

    /** The time for which a profiler that was off stays on after a reading, ms. */
    private static final long WATCHED_MS = 10_000;

    /** The number of attempts to read a newer snapshot; the snapshot behind the bean is up to a second old. */
    private static final int TRIES = 60;

    private static final long PAUSE_NS = 50_000_000;

    private final String name;
    private final JMXConnector connector;
    private final MBeanServerConnection server;
    private final ObjectName bean;
    private final boolean hasLines;

    /** Whether the profiler was off, and is on only while it is read. */
    private final AtomicBoolean switchedOn = new AtomicBoolean();

    private final AtomicBoolean closed = new AtomicBoolean();
    private long lastMs;

    private BeanSource(String name, JMXConnector connector, MBeanServerConnection server, ObjectName bean)
            throws IOException, JMException {
        this.name = name;
        this.connector = connector;
        this.server = server;
        this.bean = bean;
        hasLines = Stream.of(server.getMBeanInfo(bean).getOperations())
                .anyMatch(operation -> operation.getName().equals(LINES));
    }

    /**
     * Connects to a process, and switches its profiler on if it is off.
     *
     * @param pid the id of the process
     * @param wanted the name of the profiler; null for the only one
     * @throws Refused if there is no such process or profiler, or the profiler cannot be switched on
     */
    static BeanSource of(String pid, @Nullable String wanted) throws IOException {
        JMXConnector connector = connect(address(pid));
        BeanSource source = null;
        try {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            ObjectName bean = bean(server, pid, wanted);
            source = new BeanSource("process " + pid + ", " + plainName(bean), connector, server, bean);
            source.switchOn();
            return source;
        } catch (JMException failed) {
            throw new Refused("the profiler of process " + pid + " cannot be read: " + failed);
        } finally {
            if (source == null) {
                connector.close();
            }
        }
    }

    @SuppressWarnings("BanJNDI") // the address is that of a process of this user on this machine
    private static JMXConnector connect(String address) throws IOException {
        return JMXConnectorFactory.connect(new JMXServiceURL(address));
    }

    private static String address(String pid) throws IOException {
        VirtualMachine machine = JavaProcess.of(pid).attach();
        try {
            String running = machine.getAgentProperties().getProperty(LOCAL_ADDRESS);
            return running == null ? machine.startLocalManagementAgent() : running;
        } catch (IOException failed) {
            throw new Refused("process " + pid + " cannot be reached: " + failed.getMessage());
        } finally {
            machine.detach();
        }
    }

    private static ObjectName bean(MBeanServerConnection server, String pid, @Nullable String wanted)
            throws IOException, JMException {
        List<ObjectName> found = new ArrayList<>(server.queryNames(new ObjectName(BEANS), null));
        if (found.isEmpty()) {
            throw new Refused(
                    "process " + pid + " has no profiler that can be read: start it with the agent, or register"
                            + " its profiler with BrickProfileBean; the agent registers its own 3 s after its start, and not with"
                            + " ab=");
        }
        List<ObjectName> named = found.stream()
                .filter(each -> wanted == null || plainName(each).equals(wanted))
                .toList();
        if (named.size() != 1) {
            throw new Refused("process " + pid + " has "
                    + (wanted == null ? found.size() + " profilers" : "no profiler '" + wanted + "'")
                    + ": choose one by --name: "
                    + String.join(
                            ", ",
                            new TreeSet<>(
                                    found.stream().map(BeanSource::plainName).toList())));
        }
        return named.get(0);
    }

    private static String plainName(ObjectName bean) {
        String name = bean.getKeyProperty("name");
        return name.startsWith("\"") ? ObjectName.unquote(name) : name;
    }

    /** Switches the profiler on if it is off; it switches itself off again if this process ends without closing. */
    private void switchOn() throws IOException, JMException {
        boolean wasOn = (boolean) server.getAttribute(bean, ENABLED);
        if (!wasOn && !watch(WATCHED_MS)) {
            throw new Refused("the profiler of " + name + " is off and stays off: BRICK_PROFILER=off switches all"
                    + " profilers off");
        }
        switchedOn.set(!wasOn);
    }

    private boolean watch(long ms) throws IOException, JMException {
        return (boolean) server.invoke(bean, "watch", new Object[] {ms}, new String[] {long.class.getName()});
    }

    @Override
    public String name() {
        return name + (switchedOn.get() ? ", on while it is watched" : "");
    }

    @Override
    public TopReading read() throws IOException {
        try {
            if (switchedOn.get()) {
                watch(WATCHED_MS);
            }
            for (int i = 0; i < TRIES; i++) {
                long beganMs = endedMs();
                if (beganMs > lastMs) {
                    Map<String, Object> sums = new HashMap<>();
                    server.getAttributes(bean, READ)
                            .asList()
                            .forEach(each -> sums.put(each.getName(), each.getValue()));
                    if (endedMs() == beganMs) {
                        lastMs = beganMs;
                        return withLines(reading(beganMs, sums));
                    }
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
        } catch (JMException failed) {
            throw new IOException("the profiler of " + name + " is gone: " + failed.getMessage(), failed);
        }
        throw new IOException("the profiler of " + name + " gives no new snapshot");
    }

    private long endedMs() throws IOException, JMException {
        return ms(server.getAttribute(bean, ENDED));
    }

    private static long ms(@Nullable Object date) {
        return ((Date) Objects.requireNonNull(date)).toInstant().toEpochMilli();
    }

    private TopReading reading(long endedMs, Map<String, Object> sums) throws Refused {
        if (!sums.keySet().containsAll(List.of(SUMS))) {
            throw new Refused("the profiler of " + name + " is of an older release without steps and requests");
        }
        Map<String, TopReading.Phase> phases = new LinkedHashMap<>();
        for (CompositeData phase : several(sums, "Phases")) {
            phases.put(
                    (String) phase.get("name"),
                    new TopReading.Phase(
                            (long) phase.get("count"),
                            (long) phase.get("wallNs"),
                            (long) phase.get("promptTokens"),
                            (long) phase.get("outputTokens")));
        }
        CompositeData requests = (CompositeData) Objects.requireNonNull(sums.get("Requests"));
        return TopReading.of(
                        ms(sums.get("StartedAt")),
                        endedMs,
                        (long) Objects.requireNonNull(sums.get("WallNs")),
                        Stream.of(several(sums, "Bricks"))
                                .map(BeanSource::brick)
                                .toList(),
                        phases,
                        new TopReading.Requests(
                                (long) requests.get("arrived"),
                                (long) requests.get("finished"),
                                (long) requests.get("waiting"),
                                (long) requests.get("running"),
                                latency((CompositeData) requests.get("timeToFirstToken")),
                                latency((CompositeData) requests.get("timePerOutputToken")),
                                // A process with an earlier version does not state it.
                                requests.containsKey("countedFrom")
                                        ? List.of((String[]) requests.get("countedFrom"))
                                        : List.of(),
                                requests(requests, "slowest"),
                                requests(requests, "oldestLive")))
                .withProgress(texts(sums, PROGRESS), texts(sums, RECENT));
    }

    /** Adds the lines of bricks, if the profiler keeps them. */
    private TopReading withLines(TopReading reading) throws IOException {
        if (!hasLines) {
            return reading;
        }
        try {
            return reading.withLines(Optional.ofNullable((String) server.invoke(bean, LINES, null, null))
                    .map(LineProfile::fromJson));
        } catch (JMException | IllegalArgumentException failed) {
            return reading.withoutLines(failed);
        }
    }

    private static List<String> texts(Map<String, Object> sums, String name) {
        return List.of((String[]) sums.getOrDefault(name, new String[0]));
    }

    private static List<TopReading.Request> requests(CompositeData requests, String name) {
        // A process with an earlier version does not state them.
        return requests.containsKey(name)
                ? Stream.of((CompositeData[]) requests.get(name))
                        .map(each -> new TopReading.Request(
                                Optional.ofNullable((String) each.get("id")),
                                each.containsKey("model")
                                        ? Optional.ofNullable((String) each.get("model"))
                                        : Optional.empty(),
                                Optional.ofNullable((Date) each.get("arrivedAt"))
                                        .map(Date::toInstant),
                                (long) each.get("timeNs"),
                                (boolean) each.get("running")))
                        .toList()
                : List.of();
    }

    private static CompositeData[] several(Map<String, Object> sums, String name) {
        return (CompositeData[]) Objects.requireNonNull(sums.get(name));
    }

    private static TopReading.Brick brick(CompositeData brick) {
        // A process with an earlier version does not state it.
        Optional<CompositeData> latency =
                Optional.ofNullable(brick.containsKey("latency") ? (CompositeData) brick.get("latency") : null);
        return new TopReading.Brick(
                (String) brick.get("name"),
                (String) brick.get("category"),
                (long) brick.get("count"),
                (long) brick.get("totalNs"),
                latency.map(BeanSource::latency),
                device(brick));
    }

    private static TopReading.OfDevice device(CompositeData brick) {
        // A process with an earlier version states none of these.
        Long netNs = brick.containsKey("netNs") ? (Long) brick.get("netNs") : null;
        return new TopReading.OfDevice(
                brick.containsKey("estimated") && (boolean) brick.get("estimated"),
                brick.containsKey("measured") ? OptionalLong.of((long) brick.get("measured")) : OptionalLong.empty(),
                netNs == null ? OptionalLong.empty() : OptionalLong.of((long) brick.get("totalNs") - netNs),
                true);
    }

    private static LatencyDistribution latency(CompositeData latency) {
        return LatencyDistribution.ofCounts((int) latency.get("firstBucket"), (long[]) latency.get("counts"));
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            try (connector) {
                if (switchedOn.get()) {
                    watch(0);
                }
            } catch (IOException | JMException gone) {
                // The process has ended, and its profiler with it.
            }
        }
    }
}

package org.brickprofiler.cli;

import static org.brickprofiler.report.internal.HumanUnits.duration;
import static org.brickprofiler.report.internal.HumanUnits.number;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.brickprofiler.Progress;
import org.brickprofiler.stats.LatencyDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Reads the profilers of several replicas of an engine as one: sums are added, and so are the counts of latencies, from
 * which the percentiles of all follow. A replica that does not answer is named with the reason, and left out until it
 * answers; the window begins anew when one leaves or joins. One thread reads; any thread may close.
 */
final class ReplicaSource implements TopSource {

    /** The time after which a refresh goes on without a replica. */
    private static final Duration LIMIT = Duration.ofSeconds(2);

    /** Opens the source of a target. */
    interface Opener {
        TopSource open(String target) throws IOException;
    }

    private final List<Replica> replicas = new ArrayList<>();
    private final ExecutorService readers = Executors.newCachedThreadPool(work -> {
        Thread reader = new Thread(work, "brick-top-replica");
        reader.setDaemon(true);
        return reader;
    });

    private final Function<TopReading, List<String>> further;
    private boolean hasRead;

    private ReplicaSource(Function<TopReading, List<String>> further) {
        this.further = further;
    }

    /**
     * Opens the sources of replicas.
     *
     * @param targets their process ids or addresses
     * @param opener opens one of them
     * @param further returns the lines that are shown of each reading in any case
     * @throws Refused if one is given twice, whose sums would count twice, or is neither process id nor address
     */
    static ReplicaSource of(List<String> targets, Opener opener, Function<TopReading, List<String>> further)
            throws Refused {
        ReplicaSource all = new ReplicaSource(further);
        Set<String> names = new HashSet<>();
        try {
            for (String target : targets) {
                Replica replica = new Replica(target, opener);
                all.replicas.add(replica);
                if (!names.add(replica.name)) {
                    throw new Refused(replica.name + " is given twice, and would count twice");
                }
            }
            return all;
        } catch (Refused refused) {
            all.close();
            throw refused;
        }
    }

    @Override
    public String name() {
        return replicas.size() + " replicas";
    }

    /**
     * Reads all replicas at the same time.
     *
     * @throws Refused if no replica answers the first reading
     */
    @Override
    public TopReading read() throws IOException {
        long endNs = System.nanoTime() + LIMIT.toNanos();
        replicas.forEach(replica -> replica.ask(readers));
        Map<String, TopReading> answers = new LinkedHashMap<>();
        for (Replica replica : replicas) {
            replica.answer(endNs).ifPresent(reading -> answers.put(replica.name, reading));
        }
        List<String> lines = replicas.stream().map(Replica::state).collect(Collectors.toCollection(ArrayList::new));
        if (answers.isEmpty() && !hasRead) {
            throw new Refused("no replica answers: " + String.join(" ", lines));
        }
        hasRead = true;
        answers.forEach((name, reading) -> {
            if (isStalled(reading)) {
                reading.progress().forEach(line -> lines.add(name + ": " + line));
            }
            further.apply(reading).forEach(line -> lines.add(name + ": " + line));
        });
        return TopReading.together(answers).withProgress(lines, List.of());
    }

    /** Returns whether a replica stalls; if not, its line and the oldest requests of all say what is under way. */
    private static boolean isStalled(TopReading reading) {
        return reading.progress().stream().anyMatch(line -> line.startsWith(Progress.STALLED));
    }

    @Override
    public void close() {
        readers.shutdownNow();
        replicas.forEach(Replica::close);
    }

    /** One of the replicas. */
    private static final class Replica {

        private final String name;

        /** Its source; null if it could not be opened. */
        private final @Nullable TopSource source;

        /** The reading under way; null if there is none. */
        private @Nullable Future<TopReading> asked;

        private final TopWindow window = new TopWindow();

        /** Why it is left out; empty if it answers. */
        private String reason = "";

        Replica(String target, Opener opener) throws Refused {
            TopSource opened = null;
            try {
                opened = opener.open(target);
            } catch (IOException unable) {
                if (!TopCommand.isProcess(target)) {
                    throw new Refused(String.valueOf(unable.getMessage()));
                }
                reason = String.valueOf(unable.getMessage());
            }
            source = opened;
            name = opened == null ? "process " + target : opened.name();
        }

        void ask(ExecutorService readers) {
            TopSource opened = source;
            if (opened != null && asked == null) {
                asked = readers.submit(opened::read);
            }
        }

        /** Returns the answer; empty if it has not arrived at the given time of {@link System#nanoTime}. */
        Optional<TopReading> answer(long endNs) {
            Future<TopReading> reading = asked;
            if (reading == null) {
                return Optional.empty();
            }
            try {
                TopReading answer = reading.get(Math.max(0, endNs - System.nanoTime()), TimeUnit.NANOSECONDS);
                asked = null;
                reason = "";
                window.add(answer);
                return Optional.of(answer);
            } catch (TimeoutException late) {
                reason = "it has not answered for " + LIMIT.toSeconds() + " s";
            } catch (ExecutionException failed) {
                asked = null;
                Throwable cause = failed.getCause();
                reason = String.valueOf(cause == null || cause.getMessage() == null ? cause : cause.getMessage());
            } catch (InterruptedException ending) {
                Thread.currentThread().interrupt();
                reason = "interrupted";
            }
            return Optional.empty();
        }

        /** Returns its state in words. */
        String state() {
            if (!reason.isEmpty()) {
                return name + " is left out: " + reason + ".";
            }
            return name + ": " + window.activity().map(Replica::inWords).orElse("its window begins.");
        }

        private static String inWords(TopWindow.Activity now) {
            TopReading.Requests requests = now.sums().requests();
            long tokens = now.sums().phases().values().stream()
                    .mapToLong(TopReading.Phase::outputTokens)
                    .sum();
            return (now.sums().wallNs() == 0 ? "the profiler was off; " : "") + requests.running() + " running, "
                    + requests.waiting() + " waiting; " + number(tokens / now.seconds()) + " output tokens/s; p99 of "
                    + p99("first token", requests.firstToken()) + ", " + p99("output token", requests.perToken()) + ".";
        }

        private static String p99(String what, LatencyDistribution times) {
            return what + " " + (times.count() == 0 ? "unknown" : duration(times.percentileNs(99)));
        }

        void close() {
            if (source != null) {
                source.close();
            }
        }
    }
}

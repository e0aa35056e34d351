package org.brickprofiler.stress;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.logging.LogManager;
import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.grading.GradingResult;

/**
 * Runs the stress tests and judges them. A test whose class name ends in {@code Control} is a weakened control: its
 * forbidden outcome must occur, which shows that the tests beside it would notice the same mistake. Every other test
 * must pass in every mode.
 *
 * <p>The first argument is {@code quick} or {@code full}; further ones go to jcstress, such as {@code -t} with a
 * pattern of names. The quick run leaves the order of compiled instructions to chance, which finds most defects, and
 * takes a few minutes on two cores. The full run tries every pair of interpreter, C1 and C2; it takes hours.
 *
 * <p>The exit status is 0 only if every test passed and every control failed.
 */
public final class StressGate {

    private static final String CONTROL_SUFFIX = "Control";
    private static final List<String> QUICK = List.of(
            "-m",
            "quick",
            "-f",
            "1",
            "-sc",
            "false",
            "-hs",
            "256",
            "-iters",
            "3",
            "-jvmArgs",
            "-XX:-TieredCompilation -XX:+UnlockDiagnosticVMOptions -XX:+StressLCM -XX:+StressGCM -XX:+StressIGVN");
    private static final List<String> FULL = List.of("-m", "default", "-hs", "512");

    private StressGate() {}

    /**
     * Runs the tests.
     *
     * @param args {@code quick} or {@code full}, then options of jcstress
     * @throws Exception if jcstress cannot run
     */
    public static void main(String[] args) throws Exception {
        long startNs = System.nanoTime();
        Options options = new Options(arguments(args).toArray(String[]::new));
        if (!options.parse()) {
            System.exit(2);
        }
        JCStress stress = new JCStress(options);
        Map<String, Verdict> verdicts = new TreeMap<>();
        stress.getTests().forEach(test -> verdicts.put(test, new Verdict(test)));
        try {
            stress.run();
        } catch (AssertionError someFailed) {
            // Every good run raises this for the controls; the results show the failed tests.
        }
        for (TestResult result : results(options.getResultFile())) {
            verdicts.computeIfAbsent(result.getName(), Verdict::new).add(result);
        }
        boolean good = print(verdicts, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNs));
        System.exit(good ? 0 : 1);
    }

    private static List<String> arguments(String[] args) {
        String mode = args.length == 0 ? "quick" : args[0];
        List<String> all = new ArrayList<>();
        switch (mode) {
            case "quick" -> all.addAll(QUICK);
            case "full" -> all.addAll(FULL);
            default -> throw new IllegalArgumentException("mode '" + mode + "' is neither quick nor full");
        }
        // Otherwise the run would mostly test the writing of a log line for each of a million states.
        all.addAll(List.of("-jvmArgsPrepend", "-Djava.util.logging.config.class=" + NoLogging.class.getName()));
        all.addAll(List.of(args).subList(Math.min(1, args.length), args.length));
        return all;
    }

    /** Configures {@code java.util.logging} to write nothing. */
    public static final class NoLogging {
        /**
         * Called by {@code java.util.logging} in each process of a test.
         *
         * @throws IOException never
         */
        public NoLogging() throws IOException {
            LogManager.getLogManager().readConfiguration(new ByteArrayInputStream(".level=OFF".getBytes(US_ASCII)));
        }
    }

    private static Iterable<TestResult> results(String file) throws Exception {
        InProcessCollector collector = new InProcessCollector();
        DiskReadCollector reader = new DiskReadCollector(file, collector);
        reader.dump();
        reader.close();
        return collector.getTestResults();
    }

    private static boolean print(Map<String, Verdict> verdicts, long seconds) {
        long bad =
                verdicts.values().stream().filter(verdict -> !verdict.isGood()).count();
        System.out.println();
        verdicts.values().forEach(System.out::println);
        boolean good = bad == 0 && verdicts.values().stream().anyMatch(verdict -> verdict.runs > 0);
        System.out.printf(
                "%n%s: %d stress tests and controls, %d not as they should be; Java %s, %d s%n",
                good ? "GOOD" : "BAD", verdicts.size(), bad, System.getProperty("java.version"), seconds);
        return good;
    }

    /** The result of all runs of one test. */
    private static final class Verdict {
        private final String test;
        private final boolean control;
        private final List<String> errors = new ArrayList<>();
        private int runs;
        private long samples;
        private long forbidden;

        Verdict(String test) {
            this.test = test;
            this.control = test.endsWith(CONTROL_SUFFIX);
        }

        void add(TestResult result) {
            // A run with an option that the virtual machine does not know does not count.
            if (result.status() == Status.API_MISMATCH) {
                return;
            }
            runs++;
            samples += result.getTotalCount();
            if (result.status() != Status.NORMAL) {
                errors.add(result.status() + " " + result.getConfig() + " " + result.getMessages());
                return;
            }
            for (GradingResult outcome : result.grading().gradingResults.values()) {
                if (outcome.expect == Expect.FORBIDDEN && outcome.count > 0) {
                    forbidden += outcome.count;
                    if (!control) {
                        errors.add(outcome.count + " x [" + outcome.id + "] " + outcome.description);
                    }
                }
            }
        }

        boolean isGood() {
            return runs > 0 && errors.isEmpty() && control == forbidden > 0;
        }

        @Override
        public String toString() {
            String state = isGood() ? "ok  " : "BAD ";
            String what = control ? "control, must fail" : "must pass";
            return String.format(
                    "%s %s (%s): %,d of %,d samples forbidden, in %d runs%s",
                    state, test, what, forbidden, samples, runs, errors.isEmpty() ? "" : " " + errors);
        }
    }
}

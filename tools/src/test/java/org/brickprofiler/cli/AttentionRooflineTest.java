package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.brickprofiler.StepInfo;
import org.brickprofiler.cli.AttentionRoofline.OfPhase;
import org.brickprofiler.cli.AttentionRoofline.Shape;
import org.brickprofiler.report.Finding;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The roofline of attention, against a count of single operations and bytes, and of a real trace. */
class AttentionRooflineTest {

    /** Tokens of each sequence in a step, and those before them. */
    private static final long[][] PROMPTS = {{5, 0}, {3, 4}};

    private static final long[][] DECODING = {{1, 9}, {1, 2}};

    @TempDir
    Path folder;

    private static String part(long[][] sequences) {
        long[] sums = new long[4];
        for (long[] sequence : sequences) {
            long keys = sequence[0] + sequence[1];
            sums[0] += sequence[0];
            sums[1] += keys;
            sums[2] += sequence[0] * sequence[0];
            sums[3] += sequence[0] * keys;
        }
        return "%d(sq%dsk%dsqsq%dsqsk%d)".formatted(sequences.length, sums[0], sums[1], sums[2], sums[3]);
    }

    /** A trace of one step, whose attention takes 10 us in each of two layers, in two kernels. */
    private TraceProfile trace() throws IOException {
        StringBuilder events = new StringBuilder(slice(
                "user_annotation",
                "execute_10_context_" + part(PROMPTS) + "_generation_" + part(DECODING),
                1,
                0,
                100,
                -1));
        for (int kernel = 0; kernel < 4; kernel++) {
            events.append(',').append(slice("cuda_runtime", "cudaLaunchKernel", 1, 10 + 10 * kernel, 2, kernel + 1));
            events.append(',').append(slice("kernel", "flash_fwd_kernel", 70, 200 + 20 * kernel, 5, kernel + 1));
        }
        return TraceReader.profile(Files.writeString(
                folder.resolve("trace.json"), "{\"schemaVersion\":1,\"traceEvents\":[" + events + "]}"));
    }

    private static String slice(String category, String name, int row, int ts, int us, int correlation) {
        return String.format(
                Locale.ROOT,
                "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":%d,\"args\":{%s}}",
                category,
                name,
                row,
                ts,
                us,
                correlation < 0 ? "" : "\"correlation\":" + correlation + ",\"stream\":" + row);
    }

    @Spec("15.8")
    @Test
    void operationsAndBytesAreThoseOfEachPairHeadAndDimension() throws IOException {
        Shape shape = Shape.parse("layers=2,heads=6,kv-heads=3,dim=4,bytes=2");
        long flops = 0;
        long bytes = 0;
        for (long[][] part : new long[][][] {PROMPTS, DECODING}) {
            for (long[] sequence : part) {
                for (int layer = 0; layer < 2; layer++) {
                    for (int head = 0; head < 6; head++) {
                        for (int dimension = 0; dimension < 4; dimension++) {
                            for (long query = sequence[1]; query < sequence[0] + sequence[1]; query++) {
                                for (long key = 0; key <= query; key++) {
                                    // Two operations for the score, two for the output.
                                    flops += 4;
                                }
                                bytes += 2 * 2;
                            }
                        }
                    }
                    bytes += 2 * 2 * 3 * 4 * (sequence[0] + sequence[1]);
                }
            }
        }

        OfPhase mixed = AttentionRoofline.of("t", trace(), shape).phases().get(0);

        assertThat(mixed.phase()).isEqualTo(StepInfo.Phase.MIXED);
        assertThat(mixed.kernels()).isEqualTo(4);
        assertThat(mixed.elapsedNs()).isEqualTo(20_000);
        assertThat(mixed.flops()).isEqualTo((double) flops);
        assertThat(mixed.bytes()).isEqualTo((double) bytes);
        assertThat(mixed.shareOfRoof(shape)).as("no limits of the device").isEmpty();
        assertThat(AttentionRoofline.of("t", trace(), shape).text())
                .contains("\n  ! 2 kernels in each layer of a step: if attention takes fewer, layers=2 is wrong");
    }

    /** The numbers were computed by another program from the annotation and the kernels' time. */
    @Spec("15.8")
    @Test
    void aRealTraceHasItsShareOfTheRoof() throws IOException {
        TraceProfile trace = TraceReader.profile(Cli.TRACES.resolve("vllm-prefill-decode.json.gz"));
        Shape shape = Shape.parse("layers=24,heads=64,kv-heads=8,dim=64,tflops=989,gbps=3350");
        AttentionRoofline roofline = AttentionRoofline.of("t", trace, shape);
        OfPhase mixed = roofline.phases().get(0);

        assertThat(mixed.flopsPerSecond()).isCloseTo(303.45e12, within(0.01e12));
        assertThat(mixed.bytesPerSecond()).isCloseTo(1_035.73e9, within(0.01e9));
        assertThat(mixed.shareOfRoof(shape).orElseThrow()).isCloseTo(0.309, within(0.001));
        assertThat(mixed.isBoundByMemory(shape)).isTrue();
        assertThat(roofline.text()).contains("mixed: 24 kernels, ", "30.9 % of its roof, the bandwidth\n");
        assertThat(roofline.candidates(trace.snapshot()))
                .extracting(Finding::kind)
                .containsExactly(Finding.Kind.BELOW_ROOF);
        Shape half = Shape.parse("layers=12,heads=64,kv-heads=8,dim=64,tflops=989,gbps=3350");
        assertThat(AttentionRoofline.of("t", trace, half).candidates(trace.snapshot()))
                .as("two kernels in each layer may be a wrong number of layers")
                .isEmpty();
        assertThat(AttentionRoofline.of("t", trace, Shape.parse("layers=24,heads=64,kv-heads=8,dim=64"))
                        .text())
                .endsWith("needs tflops= and gbps= of the device.\n");
    }

    @Spec("15.8")
    @Test
    void whatCannotBeToldApartIsRefused() throws IOException {
        TraceProfile trace = trace();

        assertThatThrownBy(() -> AttentionRoofline.of("t", trace, Shape.parse("layers=3,heads=6,dim=4")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "t has 4 kernels of attention in 1 mixed step, which is no multiple of layers=3: the time of other"
                                + " layers cannot be told apart");
        assertThatThrownBy(() -> AttentionRoofline.of(
                        "t",
                        TraceReader.profile(Cli.TRACES.resolve("kineto-simple-add.json.gz")),
                        Shape.parse("layers=3,heads=6,dim=4")))
                .hasMessageContaining("t has no steps whose annotations state tokens");
        Cli.run("report", Cli.REPORTS.resolve("full.json"), "--attention", "layers=3,heads=6,dim=4")
                .assertRefused("is no trace: --attention needs one of vLLM or SGLang");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "layers=2,heads=6 | lacks dim=",
                "layers=2,heads=6,dim=x | 'dim=x' in ",
                "layers=2,heads=6,dim=4,dim=4 | 'dim=4' in ",
                "layers=2,heads=6,dim=4,size=1 | 'size=1' in ",
                "layers=0,heads=6,dim=4 | layers=0.0 is not a whole number from 1 to 1e6",
                "layers=2.5,heads=6,dim=4 | layers=2.5 is not a whole number from 1 to 1e6",
                "layers=2,heads=6,kv-heads=4,dim=4 | heads=6 is no multiple of kv-heads=4"
            })
    void wrongNumbersAreNamed(String text, String message) {
        assertThatThrownBy(() -> Shape.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}

package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.brickprofiler.report.TextReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of other programs that no reader understands: the error says what each is, and what to read instead. */
final class ForeignTextTest {

    private static String fault(byte[] bytes) {
        String[] message = {""};
        assertThatExceptionOfType(TraceFormatException.class)
                .isThrownBy(() -> TraceReader.read(new ByteArrayInputStream(bytes), "file", ReadOptions.defaults()))
                .satisfies(refused -> message[0] = refused.fault());
        return message[0];
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "NVIDIA Tegra Profiler Report 2025@1~nsys export --type sqlite",
                "NVR\\0~Nsight Compute",
                "\\x80\\x04\\x95~export_chrome_trace",
                "PAR1~Parquet",
                "\\x89HDF~HDF5",
                "JAVA PROFILE 1.0.2\\0~heap dump",
                "PERFILE2~Linux perf",
                "\\x89PNG~a picture"
            })
    void aBinaryFormatIsNamedByItsFirstBytes(String content, String expected) {
        String bytes = content.replace("\\0", "\0")
                .replace("\\x80", "\u0080")
                .replace("\\x89", "\u0089")
                .replace("\\x04", "\u0004")
                .replace("\\x95", "\u0095");
        assertThat(fault((bytes + "\0\0rest").getBytes(ISO_8859_1))).contains(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "| model | size | params | backend | ngl | test | t/s |~llama-bench -o json",
                "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Name~cuda_gpu_trace",
                "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec~--exportProfile=profile.json",
                "[01/01/2026-00:00:00] [I] === Model Options ===~--exportProfile=profile.json",
                "[2026-01-01] [INFO] llama_model_loader: loaded~a log of llama.cpp",
                "[INFO] a server starts~no trace begins with '[INFO] a server starts'",
                "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)~OpenVINO",
                "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core~trace_view.json",
                "Device_id,OP Type,Core Type,Count,Total Time(us)~trace_view.json",
                "main;run;multiply 12~collapsed stacks",
                "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[]}~speedscope",
                "[{\"children\":[],\"frame\":{\"name\":\"ROOT\",\"type\":\"function\"},\"metrics\":{\"count\":0}}]~Proton",
                "{\"schema\":\"1.0.2-chakra.0.0.4\",\"pid\":1,\"nodes\":[]}~Chakra",
                "{\"avg_latency\": 1.2, \"latencies\": [1.1], \"percentiles\": {\"10\": 1.0}}~vllm bench serve"
            })
    void aTextIsNamedByItsBeginning(String text, String expected) {
        assertThat(fault((text + "\n").getBytes(UTF_8))).contains(expected);
    }

    @Test
    void anOldFlightRecordingIsOldAndNotDamaged(@TempDir Path folder) throws IOException {
        Path file = Files.write(folder.resolve("old.jfr"), "FLR\0\0\0\0\u0009 and its chunks".getBytes(ISO_8859_1));

        assertThatExceptionOfType(TraceFormatException.class)
                .isThrownBy(() -> TraceReader.read(file, ReadOptions.defaults()))
                .satisfies(refused -> assertThat(refused.isDamage()).isFalse())
                .withMessageContaining("old format");
    }

    @Test
    void aForeignFileWithoutEventsIsNoProfilerThatWasOff() throws IOException {
        byte[] empty = "{\"traceEvents\":[]}".getBytes(UTF_8);

        assertThat(TextReport.render(TraceReader.read(new ByteArrayInputStream(empty), "file", ReadOptions.defaults())
                        .profile()
                        .snapshot()))
                .contains("No bricks: nothing in the file counts as one.");
    }
}

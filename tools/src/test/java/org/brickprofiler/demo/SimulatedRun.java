package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A program run over the simulated driver, and its output, for tests to extend. */
public abstract class SimulatedRun {

    /** The folder of a run's files. */
    @TempDir
    protected Path folder;

    /** Its standard output. */
    protected final StringWriter out = new StringWriter();
    /** Its standard error. */
    protected final StringWriter err = new StringWriter();

    @BeforeEach
    final void startDriver() {
        SimulatedCuda.start();
        // The library initialises the driver once in a process, which the new start has undone.
        assertThat(JCudaDriver.cuInit(0)).isEqualTo(CUresult.CUDA_SUCCESS);
    }

    /** Runs a program that writes its JSON into the folder, and returns its exit code. */
    protected final int run(CommandLine program, List<String> always, String... more) {
        List<String> arguments = new ArrayList<>(always);
        arguments.addAll(List.of("--json", folder.resolve("out.json").toString()));
        arguments.addAll(List.of(more));
        return program.setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments.toArray(String[]::new));
    }

    /** The JSON that the run wrote. */
    protected final JsonNode json() throws IOException {
        return new ObjectMapper().readTree(folder.resolve("out.json").toFile());
    }
}

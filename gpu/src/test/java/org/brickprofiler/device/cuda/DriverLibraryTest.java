package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The symbols of a library, read from its file. */
class DriverLibraryTest {

    @TempDir
    Path folder;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
    }

    @Test
    void findsTheDriverThatIsLoaded() {
        assertThat(DriverLibrary.loaded()).contains(SimulatedCuda.DRIVER.build());
    }

    @Test
    void namesWhatALibraryDoesNotDefine() {
        Path driver = SimulatedCuda.DRIVER.build();
        assertThat(DriverLibrary.missing(driver, SimulatedCuda.names())).isEmpty();
        // The last one is used there, not defined.
        assertThat(DriverLibrary.missing(driver, List.of("cuInit", "cuNoSuchCall", "memcpy")))
                .containsExactly("cuNoSuchCall", "memcpy");
    }

    /** A function whose symbol is not looked for beforehand would end the process if it is missing. */
    @Test
    void eachCallIsBoundByJnaAndNoOther() {
        assertThat(Stream.concat(Stream.of(JnaCalls.class), Arrays.stream(JnaCalls.class.getDeclaredClasses()))
                        .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                        .filter(method -> Modifier.isNative(method.getModifiers()))
                        .map(Method::getName))
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(DriverCall.values())
                        .map(DriverCall::function)
                        .toList());
    }

    @Test
    void aFileThatIsNotUnderstoodMissesNothing() throws IOException {
        Path text = Files.writeString(folder.resolve("libcuda.so.1"), "not a library at all".repeat(20));
        Path empty = Files.createFile(folder.resolve("empty"));
        byte[] driver = Files.readAllBytes(SimulatedCuda.DRIVER.build());
        Path half = Files.write(folder.resolve("half"), Arrays.copyOf(driver, driver.length / 2));

        for (Path file : List.of(text, empty, half, folder.resolve("absent"), folder)) {
            assertThat(DriverLibrary.missing(file, List.of("cuInit")))
                    .as(file.toString())
                    .isEmpty();
        }
    }
}

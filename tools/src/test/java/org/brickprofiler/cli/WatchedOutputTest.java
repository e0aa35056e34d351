package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import org.junit.jupiter.api.Test;

class WatchedOutputTest {

    private static Brick.WatchedOutput failing(String reason) {
        Brick.WatchedOutput output = new Brick.WatchedOutput(new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                throw new IOException(reason);
            }
        });
        PrintWriter writer = new PrintWriter(output, false, UTF_8);
        writer.print("text");
        writer.flush();
        return output;
    }

    @Test
    void passesOnTheOutput() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Brick.WatchedOutput output = new Brick.WatchedOutput(bytes);
        output.write('a');
        output.write("bcd".getBytes(UTF_8), 1, 2);

        assertThat(bytes.toString(UTF_8)).isEqualTo("acd");
        assertThat(output.lost()).isEmpty();
    }

    @Test
    void remembersWhyOutputIsLost() {
        assertThat(failing("No space left on device").lost()).contains("No space left on device");
    }

    @Test
    void doesNotMindAReaderThatWentAway() {
        assertThat(failing("Broken pipe").lost()).isEmpty();
    }
}

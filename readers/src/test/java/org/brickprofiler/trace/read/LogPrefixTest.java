package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Logs of llama.cpp as terminals, journals, containers and other encodings pass them on. */
final class LogPrefixTest {

    private static final String TIMES = """
            slot print_timing: id  0 | task 1 |\s
            prompt eval time =     750.00 ms /    25 tokens (   30.00 ms per token,    33.33 tokens per second)
                   eval time =   16000.00 ms /   200 tokens (   80.00 ms per token,    12.50 tokens per second)
                  total time =   16750.00 ms /   225 tokens
            """;

    private static final String LOG =
            """
            build: 9000 (abcdef12) with cc for x86_64
            llama_model_loader: loaded meta data
            """ + TIMES + "slot      release: id  0 | task 1 | stop processing: n_past = 225, truncated = 0\n";

    private static JsonNode read(byte[] bytes) throws IOException {
        assertThat(RunSummary.begins(bytes)).as("whether it is known").isTrue();
        return new JsonMapper()
                .readTree(RunSummary.read(new ByteArrayInputStream(bytes), "the log")
                        .toJson());
    }

    private static void requireOneRequest(byte[] bytes) throws IOException {
        JsonNode json = read(bytes);
        assertThat(json.get("requests")).hasSize(1);
        JsonNode request = json.get("requests").get(0);
        assertThat(request.get("task").intValue()).isEqualTo(1);
        assertThat(request.get("prompt_ns").longValue()).isEqualTo(750_000_000);
        assertThat(request.get("evaluated_tokens").intValue()).isEqualTo(25);
        assertThat(request.get("output_ns").longValue()).isEqualTo(16_000_000_000L);
        assertThat(request.get("output_tokens").intValue()).isEqualTo(200);
        assertThat(request.get("total_ns").longValue()).isEqualTo(16_750_000_000L);
        assertThat(json.get("facts").has("faulty")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Jan 01 00:00:00 host llama-server[1]: ",
                "2026-01-01T00:00:00.123456+00:00 host llama-server[1]: ",
                "llama-1  | ",
                "[pod/llama-0/server] ",
                "llama-0 server ",
                "2026-01-01T00:00:00.000000000Z stdout F ",
                "[DEBUG] <qwen> srv  ",
                "\u001b[32m2026/01/01 00:00:00\u001b[0m | "
            })
    void eachLineMayHaveThePrefixOfAnotherProgram(String prefix) throws IOException {
        requireOneRequest(LOG.lines()
                .map(line -> prefix + line)
                .collect(Collectors.joining("\n", "", "\n"))
                .getBytes(UTF_8));
    }

    @Test
    void numbersMayHaveDecimalCommas() throws IOException {
        requireOneRequest(LOG.replaceAll("(\\d)\\.(\\d)", "$1,$2").getBytes(UTF_8));
    }

    @Test
    void aTerminalsEscapeSequencesAreNoDamage() throws IOException {
        requireOneRequest(("\u001b[0m" + LOG.replace("eval time", "\u001b[1;31meval\u001b[0m time")).getBytes(UTF_8));
    }

    @Test
    void anyEncodingOfUnicodeIsRead() throws IOException {
        requireOneRequest(("\ufeff" + LOG).getBytes(UTF_16LE));
        requireOneRequest(("\ufeff" + LOG).getBytes(UTF_16BE));
        requireOneRequest(LOG.getBytes(UTF_16LE));
        requireOneRequest(LOG.getBytes(UTF_16BE));
        requireOneRequest(Traces.packed(("\ufeff" + LOG).getBytes(UTF_16LE)));
        String withLetters = LOG.replace("loaded", "ge\u00f6ffnet \ud83d\ude00".repeat(3_000));
        requireOneRequest(("\ufeff" + withLetters).getBytes(UTF_16LE));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "slot print_timing: id  0 | task 1 |\ndraft acceptance rate = 0.25000",
                "slot print_timing: id  0 | task 1 |\ndraft acceptance rate = 0,25000",
                "slot print_timing: id  0 | task 1 | draft acceptance = 0.25000"
            })
    void theAcceptanceOfDraftsIsNamedAndNoFault(String acceptance) throws IOException {
        JsonNode json = read((LOG + acceptance + " (   50 accepted /   200 generated)\n").getBytes(UTF_8));

        assertThat(json.get("facts").get("drafts").asText()).isEqualTo("accepted were 50 of 200 drafted tokens");
        assertThat(json.get("facts").has("faulty")).isFalse();
        assertThat(json.get("requests")).hasSize(1);
    }

    @Test
    void aRequestThatIsCutOffIsAFault() throws IOException {
        String cut = LOG + TIMES.substring(0, TIMES.indexOf("       eval"));

        assertThat(read(cut.getBytes(UTF_8)).get("facts").get("faulty").asText())
                .contains("ends within the timing of a request");
    }

    @Test
    void binaryContentIsNoTextInUtf16() {
        assertThat(PlainBytes.utf16("SQLite format 3\0".getBytes(ISO_8859_1), 16))
                .isEmpty();
        assertThat(PlainBytes.utf16("FLR\0\0\u0002\0\0".getBytes(ISO_8859_1), 8))
                .isEmpty();
        assertThat(PlainBytes.utf16(new byte[] {(byte) 0xff, (byte) 0xfe, 0, 0}, 4))
                .isEmpty();
        assertThat(PlainBytes.utf16("{\0".getBytes(ISO_8859_1), 2)).isEmpty();
    }
}

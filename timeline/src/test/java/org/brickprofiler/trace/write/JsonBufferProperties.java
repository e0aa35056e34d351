package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

final class JsonBufferProperties {

    private static String number(long value) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        JsonBuffer json = new JsonBuffer(out);
        json.number(value).flush();
        return out.toString(StandardCharsets.UTF_8);
    }

    @Property
    void microsecondsAreExact(@ForAll long ns) throws IOException {
        assertThat(JsonBufferTest.micros(ns))
                .isEqualTo(BigDecimal.valueOf(ns, 3).toPlainString());
    }

    @Property
    void numbersAreExact(@ForAll long value) throws IOException {
        assertThat(number(value)).isEqualTo(Long.toString(value));
    }

    @Property
    void anyTextIsAString(@ForAll String text) throws IOException {
        assertThat(new ObjectMapper().readTree(JsonBuffer.quoted(text)).textValue())
                .isEqualTo(ExpectedEvents.readable(text));
    }
}

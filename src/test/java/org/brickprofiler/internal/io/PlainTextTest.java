package org.brickprofiler.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class PlainTextTest {

    @Test
    void printableAsciiStays() {
        assertThat(PlainText.ascii(" RmsNorm/0_~")).isEqualTo(" RmsNorm/0_~");
    }

    @Test
    void everythingElseIsEscapedAsInJavaSource() {
        assertThat(PlainText.ascii("a\n\r\tb\u001b\u007f\u00e9\u2028"))
                .isEqualTo("a\\n\\r\\tb\\u001b\\u007f\\u00e9\\u2028");
    }

    @Property
    void anyTextComesOutAsOnePrintableLine(@ForAll String text) {
        assertThat(PlainText.ascii(text)).matches("[ -~]*");
    }

    @Test
    void whatFitsIsNotCut() {
        assertThat(PlainText.shortened("12345678", 8)).isEqualTo("12345678");
    }

    @Test
    void whatDoesNotFitKeepsItsBeginningAndItsEnd() {
        assertThat(PlainText.shortened("layers.0.ffn.down", 10)).isEqualTo("laye...own");
        assertThat(PlainText.shortened("123456789", 8)).isEqualTo("123...89").hasSize(8);
    }
}

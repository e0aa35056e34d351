package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.CodedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ProtoBufferTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ProtoBuffer buffer = new ProtoBuffer(out);

    private CodedInputStream read() throws IOException {
        buffer.flush();
        return CodedInputStream.newInstance(out.toByteArray());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 127, 128, 16_383, 16_384, 1L << 35, Long.MAX_VALUE, -1, Long.MIN_VALUE})
    void aNumberComesBack(long value) throws IOException {
        buffer.varint(1, value);
        buffer.fixed64(2_000, value);

        CodedInputStream in = read();
        assertThat(in.readTag()).isEqualTo(1 << 3);
        assertThat(in.readUInt64()).isEqualTo(value);
        assertThat(in.readTag()).isEqualTo((2_000 << 3) | 1);
        assertThat(in.readFixed64()).isEqualTo(value);
        assertThat(in.isAtEnd()).isTrue();
    }

    /** Lengths on both sides of the sizes at which their own encoding grows; one message inside another. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 120, 123, 124, 125, 126, 127, 128, 129, 16_379, 16_380, 16_381, 16_384, 100_000})
    void aMessageOfAnyLengthComesBack(int length) throws IOException {
        String text = "x".repeat(length);
        int outer = buffer.open(1);
        int inner = buffer.open(2);
        buffer.string(3, text);
        buffer.close(inner);
        buffer.string(4, text);
        buffer.closeTop(outer);

        CodedInputStream in = CodedInputStream.newInstance(only(read(), 1));
        assertThat(in.readTag()).isEqualTo(tag(2));
        assertThat(only(CodedInputStream.newInstance(in.readByteArray()), 3)).hasSize(length);
        assertThat(in.readTag()).isEqualTo(tag(4));
        assertThat(in.readString()).isEqualTo(text);
        assertThat(in.isAtEnd()).isTrue();
    }

    /**
     * Each length is written in the fewest bytes. The content is fields of two bytes, one of them of three if it is
     * odd.
     */
    @ParameterizedTest
    @CsvSource({"127, 129", "128, 131", "16383, 16386", "16384, 16388"})
    void aLengthTakesNoMoreThanItNeeds(int content, int whole) throws IOException {
        int message = buffer.open(1);
        int odd = content % 2;
        buffer.varint(1, odd == 0 ? 1 : 0x80);
        for (int left = content - 2 - odd; left > 0; left -= 2) {
            buffer.varint(1, 1);
        }
        buffer.closeTop(message);
        buffer.flush();

        assertThat(out.size()).isEqualTo(whole);
    }

    private static int tag(int field) {
        return (field << 3) | 2;
    }

    private static byte[] only(CodedInputStream in, int field) throws IOException {
        assertThat(in.readTag()).isEqualTo(tag(field));
        byte[] content = in.readByteArray();
        assertThat(in.isAtEnd()).isTrue();
        return content;
    }
}

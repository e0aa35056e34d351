package org.brickprofiler.device.cuda;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The file of the driver's library, on Linux. JCuda's functions bind the driver's symbols at their first call, and a
 * missing symbol ends the process without an exception; therefore the symbols are first read from the file. On other
 * systems the loader binds all symbols at once, with an ordinary error.
 *
 * <p>Source of the layout: the System V ABI, chapters 4 and 5, object files of 64 bits and little-endian.
 */
final class DriverLibrary {

    private static final Path MAPPED_FILES = Path.of("/proc/self/maps");

    private static final int HEADER_BYTES = 64;
    private static final int MAGIC = 0x464C_457F;
    private static final int CLASS_64_LITTLE_ENDIAN = 0x0102;
    private static final int SECTION_HEADER_BYTES = 64;
    private static final int DYNAMIC_SYMBOLS = 11;
    private static final int SYMBOL_BYTES = 24;

    private DriverLibrary() {}

    /** Returns the library that this process has loaded; empty if that is not known. */
    static Optional<Path> loaded() {
        try (Stream<String> lines = Files.lines(MAPPED_FILES, ISO_8859_1)) {
            return lines.map(line -> line.substring(Math.max(0, line.indexOf('/'))))
                    .filter(file -> file.startsWith("/") && file.contains("/libcuda.so"))
                    .findFirst()
                    .map(Path::of);
        } catch (IOException | RuntimeException notLinux) {
            return Optional.empty();
        }
    }

    /**
     * Returns the symbols that a library does not have.
     *
     * @param library its file
     * @param symbols the names that are needed
     * @return the names that are missing; none if the file is not understood
     */
    static List<String> missing(Path library, Collection<String> symbols) {
        Set<String> defined;
        try (FileChannel file = FileChannel.open(library)) {
            defined = symbolsOf(file);
        } catch (IOException | RuntimeException unreadable) {
            return List.of();
        }
        return symbols.stream().filter(symbol -> !defined.contains(symbol)).toList();
    }

    private static Set<String> symbolsOf(FileChannel file) throws IOException {
        ByteBuffer header = read(file, 0, HEADER_BYTES);
        if (header.getInt(0) != MAGIC || header.getShort(4) != CLASS_64_LITTLE_ENDIAN) {
            throw new IOException("not an object file of 64 bits, little-endian");
        }
        long sectionsAt = header.getLong(40);
        List<ByteBuffer> sections = new ArrayList<>();
        for (int i = 0; i < Short.toUnsignedInt(header.getShort(60)); i++) {
            sections.add(read(file, sectionsAt + (long) i * SECTION_HEADER_BYTES, SECTION_HEADER_BYTES));
        }
        for (ByteBuffer section : sections) {
            if (section.getInt(4) == DYNAMIC_SYMBOLS) {
                return defined(content(file, section), content(file, sections.get(section.getInt(40))));
            }
        }
        throw new IOException("no table of symbols");
    }

    /** Returns the names of the symbols that have a section; the others are not defined in this file. */
    private static Set<String> defined(ByteBuffer symbols, ByteBuffer names) {
        Set<String> defined = new HashSet<>();
        for (int at = 0; at + SYMBOL_BYTES <= symbols.limit(); at += SYMBOL_BYTES) {
            if (symbols.getShort(at + 6) != 0) {
                int from = symbols.getInt(at);
                int to = from;
                while (names.get(to) != 0) {
                    to++;
                }
                byte[] name = new byte[to - from];
                names.get(from, name);
                defined.add(new String(name, ISO_8859_1));
            }
        }
        return defined;
    }

    private static ByteBuffer content(FileChannel file, ByteBuffer section) throws IOException {
        return read(file, section.getLong(24), Math.toIntExact(section.getLong(32)));
    }

    private static ByteBuffer read(FileChannel file, long at, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            if (file.read(buffer, at + buffer.position()) < 0) {
                throw new IOException("the file ends at " + (at + buffer.position()));
            }
        }
        return buffer.flip();
    }
}

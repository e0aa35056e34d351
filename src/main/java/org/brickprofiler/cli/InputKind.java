package org.brickprofiler.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a file holds, told by its content. */
enum InputKind {
    /** A report of ours. */
    REPORT,
    /** A log of checksums. */
    CHECKSUMS,
    /** Anything else: the reader of traces tells which, or what is wrong with it. */
    TRACE;

    private static final JsonFactory FACTORY = new JsonFactory();

    /**
     * Looks at the keys of the outermost object, up to the first one that tells.
     *
     * @param file a file that can be read more than once
     * @return its kind; also of a file that cannot be read, so that its reader says why
     */
    static InputKind of(Path file) {
        Signs signs = new Signs();
        try (InputStream bytes = Files.newInputStream(file);
                JsonParser json = FACTORY.createParser(bytes)) {
            signs.read(json);
        } catch (IOException unreadable) {
            return signs.kind();
        }
        return signs.kind();
    }

    /** What was seen so far. */
    private static final class Signs {
        private boolean version;
        private boolean bricks;
        private boolean events;
        private boolean checksums;

        void read(JsonParser json) throws IOException {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return;
            }
            while (!bricks && !events && !checksums && json.nextToken() == JsonToken.FIELD_NAME) {
                String key = json.currentName();
                JsonToken value = json.nextToken();
                switch (key) {
                    case "schema_version" -> version = true;
                    case "bricks" -> bricks = true;
                    case "traceEvents" -> events = true;
                    case "kind" -> checksums = value == JsonToken.VALUE_STRING
                            && json.getText().equals("brick-checksums");
                    default -> {
                        // Says nothing.
                    }
                }
                json.skipChildren();
            }
        }

        InputKind kind() {
            if (checksums) {
                return CHECKSUMS;
            }
            // A report that is cut off before its bricks is a report.
            return bricks || (version && !events) ? REPORT : TRACE;
        }
    }
}

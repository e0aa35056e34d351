package org.brickprofiler.report.setting;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.FileFormat;
import org.brickprofiler.report.JsonReport;

/** Snapshots as {@link JsonReport#toCompactJson} has them: there may be hundreds of thousands. Any thread. */
public final class JsonProfiles extends FileFormat<ProfileSnapshot> {

    private static final String NEEDED = "com.fasterxml.jackson.core.JsonFactory";

    /** For the service loader. */
    public JsonProfiles() {
        super(ProfileSnapshot.class);
    }

    @Override
    public void requireLibraries() {
        try {
            Class.forName(NEEDED, false, JsonProfiles.class.getClassLoader());
        } catch (ClassNotFoundException missing) {
            throw new IllegalStateException(
                    "files of profiles need com.fasterxml.jackson.core:jackson-core, which is not there", missing);
        }
    }

    @Override
    public void write(ProfileSnapshot value, Map<String, ?> further, Path path) throws IOException {
        byte[] json = JsonReport.toCompactJson(value, further).getBytes(StandardCharsets.UTF_8);
        AtomicFile.write(path, out -> out.write(json));
    }

    @Override
    public void writeFull(ProfileSnapshot value, Path path) throws IOException {
        JsonReport.write(value, path);
    }

    @Override
    public ProfileSnapshot read(Path path) throws IOException {
        return JsonReport.read(path);
    }
}

package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Which rows of a Chrome trace are threads, and which are streams of devices: Kineto's conventions, in which a device
 * stands in the place of a process. Stateless but for the tables it makes; one thread.
 */
final class ChromeLayout {

    private static final String HOST_LABEL = "CPU";
    private static final Pattern NUMBER = Pattern.compile("-?\\d+");
    private static final Pattern DEVICE_LABEL = Pattern.compile("GPU \\d+.*", Pattern.DOTALL);

    private final TimelineRows rows;
    private final boolean isOwn;
    private final TrackLayout layout;
    private final String host;
    private final Map<String, Long> devices = new HashMap<>();

    private ChromeLayout(TimelineRows rows, TraceHead head) {
        this.rows = rows;
        this.isOwn = head.isOwn();
        this.layout = new TrackLayout(head, rows.size());
        this.host = host();
        String name = rows.process(host).name;
        layout.process(isOwn && !head.processName().isEmpty() ? head.processName() : name, host);
    }

    /** The tracks of the rows. */
    static TrackLayout of(TimelineRows rows, TraceHead head) {
        ChromeLayout chrome = new ChromeLayout(rows, head);
        chrome.findDevices();
        for (int row = 0; row < rows.size(); row++) {
            if (rows.get(row).isUsed() && chrome.mainRow(row) == row) {
                chrome.add(row);
            }
        }
        chrome.layout.end();
        for (int row = 0; row < rows.size(); row++) {
            chrome.layout.merge(row, chrome.mainRow(row));
        }
        return chrome.layout;
    }

    /** The process that was traced: the one that says so, or else the one with the most events that no device's are. */
    private String host() {
        Map<String, Long> events = new HashMap<>();
        String most = rows.size() == 0 ? "" : rows.get(0).process;
        long mostEvents = 0;
        for (int number = 0; number < rows.size(); number++) {
            TimelineRows.Row row = rows.get(number);
            String label = rows.process(row.process).label;
            if (isOwn && label.startsWith(HOST_LABEL)) {
                return row.process;
            }
            if (!row.isCounter && !row.isOnDevice && !DEVICE_LABEL.matcher(label).matches()) {
                long sum = events.merge(row.process, row.events, Long::sum);
                if (sum > mostEvents) {
                    mostEvents = sum;
                    most = row.process;
                }
            }
        }
        return most;
    }

    // ---- devices ----

    /** Gives each process that is a device's its number: the one that its events tell, or its own, or a free one. */
    private void findDevices() {
        Set<Long> taken = new HashSet<>();
        for (int number = 0; number < rows.size(); number++) {
            TimelineRows.Row row = rows.get(number);
            if (row.isUsed() && !row.process.equals(host) && isDevice(row)) {
                long known = Math.max(devices.getOrDefault(row.process, TimelineRows.NONE), row.device);
                devices.put(row.process, known);
            }
        }
        devices.replaceAll((process, id) -> id >= 0 ? id : TrackLayout.wholeNumber(process));
        taken.addAll(devices.values());
        devices.replaceAll((process, id) -> id >= 0 ? id : free(taken));
        devices.forEach((process, id) -> layout.device(id, deviceLabel(process)));
    }

    private boolean isDevice(TimelineRows.Row row) {
        return isOwn
                || row.isOnDevice
                || DEVICE_LABEL.matcher(rows.process(row.process).label).matches();
    }

    private static long free(Set<Long> taken) {
        long id = 0;
        while (!taken.add(id)) {
            id++;
        }
        return id;
    }

    private String deviceLabel(String process) {
        String label = rows.process(process).label;
        int end = label.indexOf(',');
        return end < 0 ? label : label.substring(0, end);
    }

    // ---- rows ----

    private void add(int number) {
        TimelineRows.Row row = rows.get(number);
        Long ofProcess = devices.get(row.process);
        long device = ofProcess != null ? ofProcess : row.isOnDevice ? Math.max(0, row.device) : TimelineRows.NONE;
        if (row.isCounter) {
            layout.counter(number, counterName(row, device), row.unit, device);
        } else if (device != TimelineRows.NONE) {
            long stream = row.stream >= 0 ? row.stream : TrackLayout.wholeNumber(row.thread);
            layout.stream(number, row.name.isEmpty() ? "stream " + row.thread : row.name, stream, device);
        } else if (row.process.equals(host)) {
            layout.thread(number, threadName(row), TrackLayout.wholeNumber(row.thread));
        } else {
            layout.foreignThread(number, processName(row.process), threadName(row));
        }
    }

    private String counterName(TimelineRows.Row row, long device) {
        boolean ofHost = device != TimelineRows.NONE || row.process.equals(host);
        return ofHost ? row.name : processName(row.process) + ": " + row.name;
    }

    private static String threadName(TimelineRows.Row row) {
        if (!row.name.isEmpty()) {
            return row.name;
        }
        boolean isNumber = NUMBER.matcher(row.thread).matches();
        return isNumber ? "thread " + row.thread : row.thread.isEmpty() ? "(no thread)" : row.thread;
    }

    private String processName(String process) {
        String number = process.isEmpty() ? "(no process)" : process;
        String name = rows.process(process).name;
        return name.isEmpty() ? number : name + " " + number;
    }

    /** The row that a row of this library's traces stands beside, for spans that overlap; else the row itself. */
    private int mainRow(int number) {
        TimelineRows.Row row = rows.get(number);
        String main = isOwn && !row.isCounter ? TrackLayout.besideWhat(row.name) : null;
        if (main == null) {
            return number;
        }
        int found = rows.find(row.process, Long.toString(row.sortIndex));
        return found >= 0 && rows.get(found).name.equals(main) ? found : number;
    }
}

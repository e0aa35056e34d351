package org.brickprofiler.cli;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Masks passwords, tokens and keys in shell commands that are stored. The names of options, properties, variables and
 * headers show which values are secret: the last word of {@code --api-key}, {@code -Ddb.password=}, {@code HF_TOKEN=}
 * and {@code accessKey=} does. Stateless; any thread.
 */
final class Secrets {

    static final String MASK = "***";

    private static final Set<String> SECRET_WORDS = Set.of(
            "password",
            "passwd",
            "passphrase",
            "pwd",
            "pass",
            "pw",
            "secret",
            "secrets",
            "token",
            "key",
            "apikey",
            "accesskey",
            "secretkey",
            "privatekey",
            "credential",
            "credentials",
            "auth",
            "authorization",
            "bearer",
            "cookie");

    /** A word of a command: text in quotes and without, up to a space or an operator of the shell. */
    private static final Pattern WORD =
            Pattern.compile("(?:\"(?:\\\\.|[^\"\\\\])*\"?|'[^']*'?|\\\\.|[^\\s\"'\\\\;|&<>()])+");

    private static final Pattern ASSIGNMENT = Pattern.compile("(?s)([\"']?)(-{0,2}[\\w.-]+)([\"']?)(=|:(?!//))(.+)");

    private static final Pattern OPTION = Pattern.compile("[\"']?-{1,2}([\\w.-]+)[\"']?");

    /** The parts of a query, and of settings that are separated by commas. */
    private static final Pattern PART =
            Pattern.compile("(?<=[?&,;{])([\"']?)([\\w.-]+)([\"']?)([=:][\"']?)([^&,;\"'}]+)");

    private static final Pattern USER = Pattern.compile("(://[^/\\s:@\"']*:)[^/\\s\"']+(?=@)");

    private static final Pattern CAMEL = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|[._-]+");

    private static final Pattern HEADER = Pattern.compile("([\"']?)([\\w-]+):\\s.*", Pattern.DOTALL);

    private Secrets() {}

    /**
     * Masks the secrets of a command.
     *
     * @param command a command of a shell
     * @return the command with {@value #MASK} in place of each secret value
     */
    static String masked(String command) {
        StringBuilder masked = new StringBuilder();
        Matcher word = WORD.matcher(command);
        int end = 0;
        boolean isSecret = false;
        while (word.find()) {
            String between = command.substring(end, word.start());
            masked.append(between);
            boolean isSameCommand = between.isBlank() && between.indexOf('\n') < 0;
            boolean isValue = isSecret && isSameCommand && !word.group().startsWith("-");
            Matcher option = OPTION.matcher(word.group());
            isSecret = option.matches() && isSecretName(option.group(1));
            masked.append(isValue ? MASK : maskedWord(word.group()));
            end = word.end();
        }
        return masked.append(command.substring(end)).toString();
    }

    private static String maskedWord(String word) {
        char quote = word.charAt(0);
        boolean isQuoted =
                word.length() > 1 && (quote == '"' || quote == '\'') && word.indexOf(quote, 1) == word.length() - 1;
        Matcher header = HEADER.matcher(word);
        if (isQuoted && header.matches()) {
            return isSecretName(header.group(2)) ? quote + header.group(2) + ": " + MASK + quote : word;
        }
        boolean isSeveralWords =
                isQuoted && word.charAt(1) != '-' && word.chars().anyMatch(Character::isWhitespace);
        if (isSeveralWords) {
            return quote + masked(word.substring(1, word.length() - 1)) + quote;
        }
        Matcher assignment = ASSIGNMENT.matcher(word);
        if (assignment.matches() && isSecretName(assignment.group(2))) {
            return assignment.group(1)
                    + assignment.group(2)
                    + assignment.group(3)
                    + assignment.group(4)
                    + MASK
                    + assignment.group(1);
        }
        String withoutUsers = USER.matcher(word).replaceAll("$1" + Matcher.quoteReplacement(MASK));
        return PART.matcher(withoutUsers)
                .replaceAll(part -> Matcher.quoteReplacement(
                        isSecretName(part.group(2))
                                ? part.group(1) + part.group(2) + part.group(3) + part.group(4) + MASK
                                : part.group()));
    }

    private static boolean isSecretName(String name) {
        String last = CAMEL.splitAsStream(name.startsWith("-D") ? name.substring(2) : name)
                .reduce("", (before, after) -> after);
        return SECRET_WORDS.contains(last.replaceFirst("\\d+$", "").toLowerCase(Locale.ROOT));
    }
}

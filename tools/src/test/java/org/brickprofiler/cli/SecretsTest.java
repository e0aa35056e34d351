package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SecretsTest {

    @ParameterizedTest
    @CsvSource(delimiterString = "->", quoteCharacter = '`', textBlock = """
        run --token=x9 -n 4  ->  run --token=*** -n 4
        run --token x9 -n 4  ->  run --token *** -n 4
        run --api-key 'x 9' -n 4  ->  run --api-key *** -n 4
        run --apiKey="x 9" -n 4  ->  run --apiKey=*** -n 4
        run "--password=x 9" -n 4  ->  run "--password=***" -n 4
        run -password x9; run --secret x9|sort  ->  run -password ***; run --secret ***|sort
        java -Ddb.password=x9 -Dkey='x9' -jar a.jar  ->  java -Ddb.password=*** -Dkey=*** -jar a.jar
        HF_TOKEN=x9 AWS_SECRET_ACCESS_KEY=x9 OPENAI_API_KEY2=x9 run  ->  HF_TOKEN=*** AWS_SECRET_ACCESS_KEY=*** OPENAI_API_KEY2=*** run
        env HF_TOKEN="x9" run && DB_PASS=x9 run  ->  env HF_TOKEN=*** run && DB_PASS=*** run
        curl https://user:x9@host/path?a=b  ->  curl https://user:***@host/path?a=b
        curl https://:x9@host 'https://u:x:9@host'  ->  curl https://:***@host 'https://u:***@host'
        curl 'https://host/?a=1&token=x9&b=2'  ->  curl 'https://host/?a=1&token=***&b=2'
        curl -H 'Authorization: Bearer x9' -H "X-Api-Key: x9" host  ->  curl -H 'Authorization: ***' -H "X-Api-Key: ***" host
        sh -c 'TOKEN=x9 run --password x9'  ->  sh -c 'TOKEN=*** run --password ***'
        java -javaagent:a.jar=port=1,token=x9,out=b -jar c.jar  ->  java -javaagent:a.jar=port=1,token=***,out=b -jar c.jar
        run --config '{"key":"x9","n":1}'  ->  run --config '{"key":"***","n":1}'
        """)
    void secretsAreMasked(String command, String masked) {
        assertThat(Secrets.masked(command)).isEqualTo(masked);
        assertThat(Secrets.masked(masked)).isEqualTo(masked);
    }

    /** Commands that differ in one of these values are different commands. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "run --max-tokens 128 --tokens=64 --tokenizer llama",
                "run --cache-type-k q8_0 --key-length 64 --keys 3",
                "run --password-file secrets.txt --token --verbose",
                "java -Dmodel.monkey=3 -cp 'a b:c' Main \"hello: world\" http://host:80/a@b",
                "for i in 1 2 3; do echo $i >> out.txt; done",
                "BRICK_PROFILER=on python3 -c 'print(\"x\")' # token",
                "",
            })
    void otherValuesStay(String command) {
        assertThat(Secrets.masked(command)).isEqualTo(command);
    }
}

import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { stoa } from "../support/Command.ts"

it.live("a start in production names every setting that is missing or wrong at once", () =>
  Effect.gen(function*() {
    const { code, output } = yield* stoa(["serve"], {
      NODE_ENV: "production",
      STOA_AUTH_SECRET: "",
      STOA_DEV_API_KEY: "some-key-of-mine",
      STOA_PUBLIC_URL: "shop.example/path",
      DATABASE_URL: "mysql://shop",
      PORT: "http"
    })
    assert.strictEqual(code, 1, output)
    const named = [...output.matchAll(/^(?:stoa: )? *([\w.]+)(?:=".*"| is missing).*: expected /gm)].map(([, name]) =>
      name
    )
    assert.deepStrictEqual(named.toSorted(), [
      "DATABASE_URL",
      "PORT",
      "STOA_AUTH_SECRET",
      "STOA_DEV_API_KEY",
      "STOA_PUBLIC_URL",
      "auth.requireEmailVerification"
    ], output)
    assert.strictEqual(output.match(/^stoa: /gm)?.length, 1, output)
  }))

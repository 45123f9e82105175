import { assert } from "@effect/vitest"
import { type PluginTestApp, type TestActor, testAdminActor } from "../../src/plugins/kit/testing/StoaTesting.ts"
import { answer } from "./ServiceCalls.ts"

/**
 * Requests to a service with a plugin, by the admin unless they say who asks; null is a visitor. Paths of `ask` follow
 * `/api`, those of the others `/api` and the plugin's prefix, such as `/appointments`.
 */
export const callsOf = ({ app }: Pick<PluginTestApp, "app">, prefix: string) => {
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    as: TestActor | null = testAdminActor,
    headers: Readonly<Record<string, string>> = {}
  ) => {
    const sent = { headers, ...(as && { as }), ...(body === undefined ? {} : { body }) }
    const got = await app.request(method, `/api${path}`, sent)
    return answer(got.status, got.headers, got.body)
  }
  /** Fails unless the request is done. */
  const done = async (method: string, path: string, body?: unknown, as?: TestActor | null) => {
    const got = await ask(method, `${prefix}${path}`, body, as)
    assert.isBelow(got.status, 300, `${method} ${path}: ${JSON.stringify(got.body)}`)
    return got
  }
  /** Fails unless the request is refused so: `422 VALIDATION_FAILED`. */
  const refused = async (expected: string, method: string, path: string, body?: unknown, as?: TestActor | null) => {
    const got = await ask(method, `${prefix}${path}`, body, as)
    assert.strictEqual(`${got.status} ${got.text("error.code")}`, expected, JSON.stringify(got.body))
    return got
  }
  return { ask, done, refused }
}

import { assert } from "@effect/vitest"
import { type PluginTestApp, testAdminActor } from "stoa/plugin/testing"

/** A value of an answer by its path: `items.0.id`. */
export const valueAt = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => Reflect.get(Object(value), name), body)

/** A request of a guide: its lines are a name, the request, headers and a body, of which all but the request may be absent. */
const partsOf = (text: string) => {
  const [, name, method = "", path = "", headers = "", body = ""] =
    /^(?:# (\w+)\n)?([A-Z]+) (\S+)\n?((?:[\w-]+: .+\n?)*)([\s\S]*)$/.exec(text.trim()) ?? assert.fail(text)
  return {
    name,
    method,
    path,
    body,
    headers: Object.fromEntries(
      [...headers.matchAll(/^([\w-]+): (.+)$/gm)].map(([, key = "", value = ""]) => [key, value])
    )
  }
}

/** What a guide shows of an answer: objects with these fields among others, lists with as many elements. */
const agrees = (shown: unknown, given: unknown, where: string): void => {
  if (Array.isArray(shown)) {
    assert.strictEqual(Array.isArray(given) ? given.length : undefined, shown.length, where)
    shown.forEach((one, n) => agrees(one, Reflect.get(Object(given), n), `${where}.${n}`))
  } else if (typeof shown === "object" && shown !== null) {
    for (const [name, value] of Object.entries(shown)) {
      agrees(value, Reflect.get(Object(given), name), `${where}.${name}`)
    }
  } else assert.deepStrictEqual(given, shown, where)
}

/**
 * Sends the requests of a guide in their order: blocks ```` ```http ```` those of staff, ```` ```http shopper ```` without
 * credentials. Each has to succeed, and a block ```` ```json ```` has to be a part of the `data` of the answer before it.
 * Gives the data of the answers that have a name.
 */
export const runGuide = async ({ request }: PluginTestApp["app"], guide: string) => {
  const answers = new Map<string, unknown>()
  const filled = (text: string) =>
    text.replaceAll(/\{\{(\w+)\.([\w.]+)\}\}/g, (whole, name: string, path: string) => {
      const value = valueAt(answers.get(name), path)
      return value === undefined ? assert.fail(`${whole} is in no answer`) : String(value)
    })
  let last: unknown
  let where = ""
  for (const [, kind, who, text = ""] of guide.matchAll(/^```(http|json)( shopper)?\n([\s\S]*?)^```$/gm)) {
    if (kind === "json") {
      agrees(JSON.parse(text), last, where)
      continue
    }
    for (const one of text.split(/\n{2,}/)) {
      const { body, headers, method, name, path } = partsOf(filled(one))
      const answer = await request(method, path, {
        headers,
        ...(who === undefined && { as: testAdminActor }),
        ...(body !== "" && { body: JSON.parse(body) })
      })
      where = `${method} ${path}`
      assert.isBelow(answer.status, 300, `${where}: ${JSON.stringify(answer.body)}`)
      last = valueAt(answer.body, "data")
      if (name !== undefined) answers.set(name, last)
    }
  }
  return {
    answer: (path: string) => valueAt(answers.get(path.split(".")[0] ?? ""), path.split(".").slice(1).join("."))
  }
}

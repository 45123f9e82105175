import { Session } from "node:inspector"
import type { BackgroundFibers, FiberInside } from "./BackgroundFibers.ts"

const inside = "~effect/Effect/"

interface Operation {
  "~effect/Effect/evaluate"(fiber: FiberInside): unknown
}

const noOperation: Operation = { "~effect/Effect/evaluate": () => undefined }
const root = new URL("../..", import.meta.url).href

/** Finds where functions and generators are written, with the inspector of this process. */
class Places {
  readonly #session = new Session()
  readonly #scripts = new Map<string, string>()
  readonly #known = new WeakMap<object, string>()

  constructor() {
    this.#session.connect()
    this.#session.on("Debugger.scriptParsed", ({ params }) => this.#scripts.set(params.scriptId, params.url))
    this.#session.post("Debugger.enable")
  }

  /** File and line, from the root of the project. Empty for what Node.js itself has. */
  of(subject: object): string {
    const known = this.#known.get(subject)
    if (known !== undefined) return known
    const found = this.#find(subject)
    this.#known.set(subject, found)
    return found
  }

  #find(subject: object): string {
    Reflect.set(globalThis, "__benchSubject", subject)
    let place = ""
    this.#session.post("Runtime.evaluate", { expression: "__benchSubject", objectGroup: "bench" }, (_, evaluated) => {
      place = this.#locate(evaluated?.result.objectId)
    })
    this.#session.post("Runtime.releaseObjectGroup", { objectGroup: "bench" })
    return place
  }

  #locate(objectId: string | undefined): string {
    if (objectId === undefined) return ""
    let place = ""
    this.#session.post("Runtime.getProperties", { objectId, ownProperties: true }, (_, properties) => {
      for (const { name, value } of properties?.internalProperties ?? []) {
        if (name === "[[GeneratorFunction]]") place = this.#locate(value?.objectId)
        if (name !== "[[FunctionLocation]]") continue
        const { lineNumber, scriptId } = value?.value ?? {}
        const url = this.#scripts.get(scriptId) ?? ""
        if (url.startsWith("file:")) place = `${url.replace(root, "")}:${lineNumber + 1}`
      }
    })
    return place
  }
}

/** Functions and the generator of an effect: most kinds have them as `args`, `Effect.gen` has an `iterator`. */
const functionsOf = (operation: object): ReadonlyArray<object> =>
  ["iterator", `${inside}args`, "payload", `${inside}successCont`]
    .map((name): unknown => Reflect.get(operation, name))
    .filter((value) => typeof value === "function" || (typeof value === "object" && value !== null && "next" in value))

/**
 * Counts each operation of the foreground twice: `at` the nearest function of this service that waits for it, and `by` its
 * kind and the nearest function of any library. It begins when the counts are read for the first time, since the server is a
 * hundred times slower then.
 */
export const profileBySource = (
  fiber: FiberInside,
  background: BackgroundFibers
): () => ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  let isAsked = false
  const places = new Places()
  const add = (name: string) => found.set(name, (found.get(name) ?? 0) + 1)
  const count = (operation: Operation, of: FiberInside) => {
    if (!isAsked || background.has(of)) return
    const waiting = [operation, ...of._stack.toReversed()].flatMap(functionsOf).map((one) => places.of(one))
    add(`at ${waiting.find((place) => place.startsWith("src/")) ?? "?"}`)
    const nearest = waiting.find((place) => place !== "") ?? "?"
    add(`by ${String(Reflect.get(operation, `${inside}identifier`) ?? "value")} ${nearest.replace(/^.*\/dist\//, "")}`)
  }
  const { setContext, succeedWith } = fiber
  fiber.setContext = function(context) {
    setContext.call(this, context)
    // Effect asks this hook of tracers for each operation.
    this.cache.tracerContext ??= (operation: Operation, of: FiberInside) => {
      count(operation, of)
      return operation["~effect/Effect/evaluate"](of)
    }
  }
  // Values go to the next function without an operation of their kind.
  fiber.succeedWith = function(value) {
    count(noOperation, this)
    return succeedWith.call(this, value)
  }
  return () => {
    isAsked = true
    return found
  }
}

import { assert, inject } from "@effect/vitest"
import type { Plugin } from "stoa/plugin"
import { createPluginTestApp, type PluginTestOptions, testAdminActor } from "stoa/plugin/testing"

/** What came back, whose values are read by their paths. */
export interface Read {
  readonly status: number
  readonly body: unknown
  readonly at: (path: string) => unknown
  readonly text: (path: string) => string
}

const valueAt = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => Reflect.get(Object(value), name), body)

let codes = 0

/** A store with these plugins, of which the first one is `uom`. */
export const openUnitShop = async (plugins: ReadonlyArray<Plugin>, options: PluginTestOptions = {}) => {
  const app = await createPluginTestApp(plugins, {
    postgres: inject("postgres").url,
    rateLimits: { api: 1_000_000 },
    ...options
  })
  const ask = async (method: string, path: string, body?: unknown, as = testAdminActor): Promise<Read> => {
    const sent = { as, ...(body === undefined ? {} : { body }) }
    const { body: received, status } = await app.app.request(method, `/api${path}`, sent)
    return {
      status,
      body: received,
      at: (at) => valueAt(received, at),
      text: (at) => String(valueAt(received, at))
    }
  }
  /** The same for what a test takes for granted; its data's id. */
  const made = async (path: string, body: unknown): Promise<string> => {
    const answer = await ask("POST", path, body)
    assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
    return answer.text("data.id")
  }
  return {
    app,
    ask,
    made,
    unit: (category = "weight", body: object = {}) =>
      made("/uom/units", { code: `u${++codes}`, name: `Unit ${codes}`, category, ...body }),
    conversion: (fromUnitId: string, toUnitId: string, factorDecimal: string, entityId?: string) =>
      made("/uom/conversions", { fromUnitId, toUnitId, factorDecimal, ...(entityId && { entityId }) }),
    unitsOf: (entityId: string, purchaseUomId: string, stockUomId: string, saleUomId = stockUomId) =>
      made(`/uom/entities/${entityId}/uom`, { purchaseUomId, stockUomId, saleUomId })
  }
}

export type UnitShop = Awaited<ReturnType<typeof openUnitShop>>

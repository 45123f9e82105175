import { Session } from "node:inspector/promises"
import { fileURLToPath } from "node:url"
import { buildersOf } from "../../src/plugins/kit/testing/Builders.ts"
import { createPluginTestApp } from "../../src/plugins/kit/testing/PluginTestApp.ts"

const source = new URL("../../src/", import.meta.url).href
const kit = "plugins/kit/testing/"

/**
 * The files of `src/` in which a function runs while one guest buys one product: V8 counts calls from just before the
 * cart is created until the order is there. Background work of an idle service is counted first and left out.
 */
export const checkoutFiles = async (): Promise<ReadonlyArray<string>> => {
  const testApp = await createPluginTestApp([], { jobs: { autorun: { enabled: false } } })
  const session = new Session()
  session.connect()
  const filesRun = async (during: () => Promise<unknown>) => {
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
    await during()
    const { result } = await session.post("Profiler.takePreciseCoverage")
    await session.post("Profiler.stopPreciseCoverage")
    return result
      .filter(({ functions, url }) => url.startsWith(source) && functions.some(({ ranges }) => ranges[0]?.count !== 0))
      .map(({ url }) => fileURLToPath(url).slice(fileURLToPath(source).length))
  }
  try {
    await session.post("Profiler.enable")
    const { order, product } = buildersOf(testApp)
    const id = await product()
    // The first purchase fills caches and starts actors; the second one is counted.
    await order([[id, 1]])
    const idle = new Set(await filesRun(() => testApp.db.query("select pg_sleep(2)")))
    const again = () => filesRun(() => order([[id, 1]]))
    const [first, ...others] = [await again(), await again(), await again()]
    // Background work beside one purchase is not in all the others.
    return first.filter((file) =>
      others.every((files) => files.includes(file)) && !idle.has(file) && !file.startsWith(kit)
    )
      .sort()
  } finally {
    session.disconnect()
    await testApp.close()
  }
}

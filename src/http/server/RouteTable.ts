interface Route {
  readonly method: string
  readonly path: string
}

/** The methods of each path, to distinguish a wrong method from an unknown path (405 with `Allow`). */
export const routeTable = (routes: ReadonlyArray<Route>) => {
  const patterns = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  for (const { method, path } of routes) {
    const shape = path.replace(/:[^/]+/g, "[^/]+")
    const known = patterns.get(shape) ?? { pattern: new RegExp(`^${shape}/?$`), methods: new Set<string>() }
    known.methods.add(method)
    patterns.set(shape, known)
  }
  const all = [...patterns.values()]
  return (path: string): ReadonlyArray<string> => {
    const methods = new Set(all.filter(({ pattern }) => pattern.test(path)).flatMap((entry) => [...entry.methods]))
    if (methods.has("GET")) methods.add("HEAD")
    return [...methods].sort()
  }
}

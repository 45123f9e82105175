import shipped from "../../commerce.config.ts"

/** The configuration that is shipped, without its plugins. */
export default { ...shipped, plugins: [] }

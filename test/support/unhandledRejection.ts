/** `node --import` this: a promise without a handler fails whenever the process gets SIGUSR2. */
process.on("SIGUSR2", () => {
  void Promise.reject(new Error("left alone by a hook"))
})

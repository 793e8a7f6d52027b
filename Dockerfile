# The one image of gw: gateway (`node /app/gw.js`), control plane (`node /app/gw-control.js`), operator
# (`node /app/gw-operator.js`) and the plugins.
# `npm run build` makes dist/image first; nothing is built or downloaded in here, and no shell is needed.
# The version of Node.js that `npm run build` runs starts fastest: V8 takes no code (gw-script.code) that another version
# has compiled, and compiles it again.
FROM node:26-bookworm-slim
COPY dist/image /app
ENV NODE_ENV=production
WORKDIR /app
# Numeric, so that runAsNonRoot can be checked.
USER 1000:1000
ENTRYPOINT ["node", "/app/gw.js"]
CMD ["--help"]
